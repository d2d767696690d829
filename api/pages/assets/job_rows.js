/** Keeps the rows of exports up to date. Reloads the list regularly and replaces the rows that have changed. */
import { showLocalTimes } from "./local_time.js";

/** The first pause between reloads of the list. The job runner writes its progress once a second. */
const FIRST_PAUSE_MS = 1000;
/** The timeout of a request for the list. */
const MAX_READ_MS = 30_000;
/** The maximum pause while a running build does not change. */
const MAX_PAUSE_MS = 5000;
/** The pause while no export is being built. Other members may still start exports, and files expire. */
const IDLE_PAUSE_MS = 30_000;
const SLOWER = 1.5;

/** The rows' HTML as sent by the service, because scripts change the rows on the page. @type {Map<string, string>} */
const sent = new Map();
let pauseMs = FIRST_PAUSE_MS;
let isReading = false;

/** Polls the list while the tab is visible, and immediately when the tab becomes visible again. */
export function watchJobs() {
  const list = document.getElementById("jobs");
  if (!list) return;
  const address = `/dashboard/exports/jobs?organization=${encodeURIComponent(list.dataset["org"] ?? "")}`;
  let timer = setTimeout(tick, nextPause(list));
  async function tick() {
    if (!list || document.hidden || isReading) return;
    isReading = true;
    clearTimeout(timer);
    const hasChanged = await refresh(list, address).finally(() => {
      isReading = false;
    });
    pauseMs = hasChanged ? FIRST_PAUSE_MS : Math.min(pauseMs * SLOWER, MAX_PAUSE_MS);
    timer = setTimeout(tick, nextPause(list));
  }
  document.addEventListener("visibilitychange", () => void tick());
  document.getElementById("older")?.addEventListener("click", (event) => void showOlder(event, list));
}

/** @param {HTMLElement} list */
function nextPause(list) {
  const isActive = list.querySelector('[data-status="queued"].job, [data-status="running"].job');
  return isActive ? pauseMs : IDLE_PAUSE_MS;
}

/**
 * Loads a page with the list and the link to older rows. Returns null if the request fails. If the session has ended, reloads
 * this page, which redirects to the sign-in page.
 *
 * @param {string} address
 */
async function readPage(address) {
  const signal = AbortSignal.timeout(MAX_READ_MS);
  const read = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-store", signal })
    .then(async (response) => ({ response, html: await response.text() }))
    .catch(() => null);
  if (read?.response.redirected) location.reload();
  const problem = document.getElementById("jobs-problem");
  const isLost = !read?.response.ok;
  const text = isLost ? "The list cannot be updated now. It is tried again." : "";
  if (problem && problem.textContent !== text) problem.textContent = text;
  return isLost || !read ? null : new DOMParser().parseFromString(read.html, "text/html");
}

/**
 * @param {HTMLElement} list
 * @param {string} address
 */
async function refresh(list, address) {
  const page = await readPage(address);
  let hasChanged = false;
  for (const row of [...(page?.querySelectorAll("li.job") ?? [])].reverse()) {
    if (!(row instanceof HTMLElement)) continue;
    const html = row.outerHTML;
    if (sent.get(row.id) === html) continue;
    sent.set(row.id, html);
    hasChanged = true;
    put(list, row);
  }
  if (list.firstElementChild) document.getElementById("jobs-empty")?.remove();
  return hasChanged;
}

/**
 * Replaces the row with the same id, or adds the row at the top.
 *
 * @param {HTMLElement} list
 * @param {HTMLElement} row
 */
function put(list, row) {
  showLocalTimes(row);
  const old = document.getElementById(row.id);
  if (!old) return list.prepend(row);
  const focused = document.activeElement;
  const hadFocus = focused && old.contains(focused);
  const part = focused instanceof HTMLElement ? focused.dataset["part"] : undefined;
  const hasNewStatus = old.dataset["status"] !== row.dataset["status"];
  const note = old.querySelector('[data-part="note"]');
  if (!hasNewStatus && note) {
    // The note refers to the status, which is unchanged.
    row.classList.add("highlighted");
    row.querySelector(".job-head")?.after(note);
  }
  old.replaceWith(row);
  const again = part ? row.querySelector(`[data-part="${part}"]`) : null;
  if (hadFocus) (again instanceof HTMLElement ? again : row).focus({ preventScroll: true });
  if (hasNewStatus) announce(row);
}

/** @param {HTMLElement} row */
function announce(row) {
  const text = `Export #${row.dataset["number"]}: ${row.querySelector(".badge")?.textContent}`;
  const live = document.getElementById("live");
  if (live) live.textContent = text;
  if (row.dataset["status"] === "ready")
    document.title = `● Ready · ${document.title.replace(/^● Ready · /, "")}`;
}

/**
 * @param {Event} event
 * @param {HTMLElement} list
 */
async function showOlder(event, list) {
  const link = event.currentTarget;
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  link.ariaBusy = "true";
  const page = await readPage(link.href);
  link.ariaBusy = null;
  if (!page) return;
  const rows = [...page.querySelectorAll("li.job")].filter((row) => !document.getElementById(row.id));
  for (const row of rows) showLocalTimes(row);
  list.append(...rows);
  const next = page.getElementById("older");
  if (next instanceof HTMLAnchorElement) link.href = next.href;
  else link.hidden = true;
  if (rows[0] instanceof HTMLElement) rows[0].focus();
}

/** Scrolls to the row that the address names, and focuses it. */
export function focusTarget() {
  const row = document.querySelector("[data-target]");
  if (!(row instanceof HTMLElement)) return;
  row.scrollIntoView({ block: "center" });
  row.focus({ preventScroll: true });
}
