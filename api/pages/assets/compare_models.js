/** Counts the models selected for a comparison, and remembers them in this tab across sorting, filtering and paging. */

import { keep, readKept } from "./tab_storage.js";

/** The sessionStorage key of the selected models. */
const TICKED = "compared-models";

const form = document.querySelector("form[data-compares]");
if (form instanceof HTMLFormElement) countTicked(form);

/** @param {HTMLFormElement} form */
function countTicked(form) {
  const max = Number(form.dataset["compares"]);
  const clear = form.querySelector("button[type=button]");
  const boxes = [...form.querySelectorAll("input[type=checkbox]")].filter(
    (box) => box instanceof HTMLInputElement,
  );
  /** @type {Set<string>} */
  let ticked = new Set(readKept(TICKED));
  show();

  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.checked) ticked.add(target.value);
    else ticked.delete(target.value);
    show();
  });
  clear?.addEventListener("click", () => {
    ticked.clear();
    show();
    form.querySelector("button")?.focus();
  });
  // Browsers restore checkboxes after the page has loaded.
  addEventListener("pageshow", ({ persisted }) => {
    // A page from the back/forward cache has outdated variables, because other pages may have changed the selection.
    if (persisted) ticked = new Set(readKept(TICKED) ?? ticked);
    show();
  });

  function show() {
    keep(TICKED, [...ticked]);
    for (const box of boxes) {
      box.checked = ticked.has(box.value);
      box.disabled = !box.checked && ticked.size >= max;
    }
    const listed = new Set(boxes.map(({ value }) => value));
    const others = [...ticked].filter((name) => !listed.has(name));
    for (const input of form.querySelectorAll("input[data-other]")) input.remove();
    form.append(...others.map(hiddenInput));
    const status = form.querySelector("[role=status]");
    const away = others.length === 0 ? "" : `, ${others.length} of them not in this list`;
    if (status) status.textContent = `${ticked.size} of ${max} selected${away}`;
    clear?.toggleAttribute("hidden", ticked.size === 0);
  }
}

/** @param {string} value */
function hiddenInput(value) {
  const input = document.createElement("input");
  Object.assign(input, { type: "hidden", name: "model", value });
  input.dataset["other"] = "";
  return input;
}
