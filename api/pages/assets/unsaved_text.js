/**
 * Keeps the submitted text of a document or profile in this tab until it is saved, because an error page or the sign-in page
 * may follow. The form offers to restore the text when it is opened again. This requires browser storage.
 */
import { showLocalTimes } from "./local_time.js";
import { keep, readFields, readKept } from "./tab_storage.js";

const KEY = "unsaved-texts";
/** All texts together use less than half of a browser's storage limit. */
const MAX_TEXTS = 5;
const MAX_LENGTH = 200_000;

/** @typedef {{ path: string, user: string, typedAt: number, fields: Record<string, string> }} Text */

const user = document.getElementById("who")?.dataset["user"] ?? "";
const path = location.pathname;
// The form redirects here after a save, so the referrer is the form's page.
if (document.querySelector("[data-done=saved]"))
  write(readOthers(new URL(document.referrer || location.href).pathname));

const form = document.getElementById("unsaved")?.closest("form");
form?.addEventListener("submit", () => {
  const text = { path, user, typedAt: Date.now(), fields: Object.fromEntries(readFields(form)) };
  if (JSON.stringify(text).length <= MAX_LENGTH) write([text, ...readOthers(path)]);
});
const text = form && (await findText());
if (form && text) offer(form, text);

/** Finds the stored text for this page. A new definition can restore a text whose page no longer exists. */
async function findText() {
  const own = read().filter((text) => text.user === user);
  const here = own.find((text) => text.path === path);
  if (here || path !== "/definitions/new") return here;
  for (const text of own.filter(({ fields }) => "yaml" in fields)) {
    const response = await fetch(text.path, { method: "HEAD" }).catch(() => null);
    if (response?.status === 404) return text;
  }
  return undefined;
}

/**
 * @param {HTMLFormElement} form
 * @param {Text} text
 */
function offer(form, text) {
  const shown = Object.fromEntries(readFields(form));
  const isShown = [...form.querySelectorAll("textarea, input:not([type=hidden])")].every((control) => {
    const name = control.getAttribute("name") ?? "";
    return (shown[name] ?? "") === (text.fields[name] ?? "");
  });
  // After a check or an error, the page shows the user's input, which is not saved yet.
  const isUnsaved = document.querySelector("#result, .problem[role=alert]:not(:empty)") !== null;
  if (isShown) return isUnsaved ? undefined : write(readOthers(text.path));
  const box = document.getElementById("unsaved");
  const time = box?.querySelector("time");
  if (!box || !time) return;
  time.dateTime = new Date(text.typedAt).toISOString();
  showLocalTimes(box);
  box.hidden = false;
  box.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    const isWanted = target.value === "restore";
    write([...(isWanted ? [{ ...text, path }] : []), ...readOthers(text.path)]);
    if (isWanted) fill(form, text.fields);
    box.hidden = true;
    form.querySelector("textarea")?.focus();
  });
}

/**
 * Restores a form's fields. Hidden fields identify the draft's edited state, so saving detects later changes by others.
 * @param {HTMLFormElement} form
 * @param {Record<string, string>} fields
 */
function fill(form, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const control = form.elements.namedItem(name);
    if (control && "value" in control) control.value = value;
  }
  form.querySelector("textarea")?.dispatchEvent(new Event("input"));
}

/** @param {string} ofPath */
function readOthers(ofPath) {
  return read().filter((text) => text.path !== ofPath || text.user !== user);
}

/** @returns {Text[]} */
function read() {
  return readKept(KEY) ?? [];
}

/** @param {Text[]} texts */
function write(texts) {
  keep(KEY, texts.slice(0, MAX_TEXTS));
}
