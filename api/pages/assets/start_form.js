/** The form that starts an export: local time, and choices that survive a sign-in. */

/** The key of the form's choices in the storage of this tab. */
const CHOICES = "export-form";

/** Prepares the form, if the page has one. */
export function openStartForm() {
  const form = document.getElementById("start-form");
  if (!(form instanceof HTMLFormElement)) return;
  for (const zone of form.querySelectorAll("[data-zone]")) zone.textContent = "your local time";
  // What the service has just refused stands in the form.
  if (!("typed" in form.dataset)) restoreChoices(form);
  form.addEventListener("input", () => saveChoices(form));
  form.addEventListener("submit", () => setOffset(form));
  document.getElementById("estimate")?.focus();
}

/**
 * Says how many minutes the chosen instant's local time is behind UTC: clocks change.
 *
 * @param {HTMLFormElement} form
 */
function setOffset(form) {
  const asOf = form.elements.namedItem("as_of");
  const offset = form.elements.namedItem("as_of_offset");
  if (!(asOf instanceof HTMLInputElement) || !(offset instanceof HTMLInputElement)) return;
  offset.value = asOf.value === "" ? "" : String(new Date(asOf.value).getTimezoneOffset());
}

/**
 * Keeps the choices in this tab, for a reload and for a sign-in after the session has ended.
 *
 * @param {HTMLFormElement} form
 */
function saveChoices(form) {
  const choices = [...new FormData(form)].filter(([name]) => name !== "form_token" && name !== "org");
  sessionStorage.setItem(CHOICES, JSON.stringify(choices.map(([name, value]) => [name, String(value)])));
}

/** @param {HTMLFormElement} form */
function restoreChoices(form) {
  const saved = sessionStorage.getItem(CHOICES);
  if (saved === null) return;
  /** @type {[string, string][]} */
  const choices = JSON.parse(saved);
  for (const input of form.querySelectorAll("input")) {
    const values = choices.filter(([name]) => name === input.name).map(([, value]) => value);
    if (input.type === "radio" || input.type === "checkbox") input.checked = values.includes(input.value);
    else if (input.type !== "hidden") input.value = values[0] ?? "";
  }
}
