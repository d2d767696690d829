/**
 * Optional enhancements of the exports pages: local times, live rows, a form that remembers its input, and download checks.
 * Errors of a check are shown on the page. Everything works without this script.
 */
import { focusTarget, watchJobs } from "./job_rows.js";
import { showLocalTimes } from "./local_time.js";
import { keep, readFields, readKept } from "./tab_storage.js";

/** The sessionStorage key of the form's choices. */
const CHOICES = "export-form";

/** Messages by HTTP status. HEAD responses have no body, and a proxy's error response does not have our format. */
/** @type {Record<number, string>} */
const PROBLEMS = {
  0: "The service cannot be reached. Check your connection and try again.",
  402: "Exports require a paid subscription.",
  403: "Your role in this organization does not allow this download.",
  404: "This project or export does not exist, or you are not a member of its organization.",
  409: "This export has no file: it is not built yet, or its build failed.",
  410: "This file has expired. Start a new export.",
  413: "This is too large for an immediate download. Start an organization export instead.",
  429: "Too many attempts. Try again in a moment.",
  503: "The service is busy. Try again in a moment.",
  504: "Counting the rows took too long. Start an organization export instead.",
};

/** The link whose file the HEAD request has just found. @type {EventTarget | null} */
let allowed = null;

showLocalTimes(document);
openStartForm();
loadProjects();
watchJobs();
focusTarget();

document.addEventListener("click", checkDownload);

document.addEventListener("submit", (event) => {
  const question = event.target instanceof HTMLFormElement ? event.target.dataset["confirm"] : undefined;
  if (question !== undefined && !confirm(question)) event.preventDefault();
});

/** The back button can restore this page after the user has signed out. */
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

/** Sets up the start form, if the page has one. */
function openStartForm() {
  const form = document.getElementById("start-form");
  if (!(form instanceof HTMLFormElement)) return;
  for (const zone of form.querySelectorAll("[data-zone]")) zone.textContent = "your local time";
  // A form that the service has just rejected still contains the user's input.
  if (!("typed" in form.dataset)) restoreChoices(form);
  // The choices survive a reload and a new sign-in after the session has expired.
  form.addEventListener("input", () => keep(CHOICES, readFields(form)));
  form.addEventListener("submit", () => setOffset(form));
  document.getElementById("estimate")?.focus();
}

/**
 * Sets the number of minutes by which the chosen local time is behind UTC. Daylight saving time changes this number.
 *
 * @param {HTMLFormElement} form
 */
function setOffset(form) {
  const asOf = form.elements.namedItem("as_of");
  const offset = form.elements.namedItem("as_of_offset");
  if (!(asOf instanceof HTMLInputElement) || !(offset instanceof HTMLInputElement)) return;
  offset.value = asOf.value === "" ? "" : String(new Date(asOf.value).getTimezoneOffset());
}

/** @param {HTMLFormElement} form */
function restoreChoices(form) {
  /** @type {[string, string][] | null} */
  const choices = readKept(CHOICES);
  if (choices === null) return;
  for (const input of form.querySelectorAll("input")) {
    const values = choices.filter(([name]) => name === input.name).map(([, value]) => value);
    if (input.type === "radio" || input.type === "checkbox") input.checked = values.includes(input.value);
    else if (input.type !== "hidden") input.value = values[0] ?? "";
  }
}

/** Sets up the project list, if the page has one. */
function loadProjects() {
  const list = document.getElementById("projects");
  if (!list) return;
  // `toggle` events do not bubble, so the listener captures them.
  list.addEventListener("toggle", (event) => void loadDownloads(event.target), true);
  const text = document.getElementById("filter-text");
  const count = document.getElementById("filter-count");
  if (!count || !(text instanceof HTMLInputElement) || "part" in list.dataset) return;
  text.addEventListener("input", () => {
    const wanted = text.value.trim().toLocaleLowerCase();
    const rows = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (list.children)];
    for (const row of rows) {
      row.hidden = !(row.dataset["name"] ?? "").toLocaleLowerCase().includes(wanted);
    }
    const matching = rows.filter((row) => !row.hidden).length;
    count.textContent = wanted === "" ? "" : `${matching} of ${rows.length} projects`;
  });
}

/**
 * Replaces the link to a project's page with the downloads from that page.
 *
 * @param {EventTarget | null} details
 */
async function loadDownloads(details) {
  const link = details instanceof HTMLDetailsElement && details.open && details.querySelector("a[data-load]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const body = link.closest(".project-body");
  link.ariaBusy = "true";
  const response = await fetch(link.href, { headers: { Accept: "text/html" } }).catch(() => null);
  link.ariaBusy = null;
  if (!response?.ok) return;
  if (response.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const loaded = page.querySelector(".project-body");
  if (loaded) body?.replaceWith(loaded);
}

/**
 * Handles a click on the page. Follows a download link only if a HEAD request finds the file.
 *
 * @param {MouseEvent} event
 */
async function checkDownload(event) {
  const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
  if (!(link instanceof HTMLAnchorElement) || link === allowed) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || link.ariaBusy === "true") return;
  event.preventDefault();
  link.ariaBusy = "true";
  const status = await fetch(link.href, { method: "HEAD", cache: "no-store" }).then(
    (response) => response.status,
    () => 0,
  );
  link.ariaBusy = null;
  if (status === 401) return location.reload();
  const problem = (link.closest("li.job, .project-body") ?? document).querySelector(".problem");
  const isFound = status > 0 && status < 400;
  const text = isFound ? "" : (PROBLEMS[status] ?? "Something went wrong on our side. Try again.");
  if (problem && problem.textContent !== text) problem.textContent = text;
  if (!isFound) return;
  allowed = link;
  link.click();
  allowed = null;
}
