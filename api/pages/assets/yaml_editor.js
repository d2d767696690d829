/**
 * Adds line numbers to the text area of a document and makes links to problems select their lines. Asks for confirmation before
 * the user leaves unsaved text.
 */

/** @type {HTMLTextAreaElement | null} */
const area = document.querySelector("textarea.code");
if (area) {
  addLineNumbers(area);
  guardUnsaved(area);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-line]") : null;
    if (!(link instanceof HTMLElement)) return;
    event.preventDefault();
    selectLine(area, Number(link.dataset["line"]), Number(link.dataset["column"]));
  });
}
// Scroll to the problems, if the page has any.
document.querySelector("#problems, .problem[role=alert]")?.scrollIntoView({ block: "nearest" });

/**
 * Asks for confirmation before the user leaves unsaved text. After a check or an error, the page shows text that is not saved
 * yet.
 * @param {HTMLTextAreaElement} area
 */
function guardUnsaved(area) {
  const shown = area.value;
  const isUnsaved = document.querySelector("#result, .problem[role=alert]:not(:empty)") !== null;
  let isSent = false;
  area.form?.addEventListener("submit", () => {
    isSent = true;
  });
  // The browser may restore this page from its back/forward cache.
  addEventListener("pageshow", () => {
    isSent = false;
  });
  addEventListener("beforeunload", (event) => {
    if (!isSent && (isUnsaved || area.value !== shown)) event.preventDefault();
  });
}

/** @param {HTMLTextAreaElement} area */
function addLineNumbers(area) {
  const box = document.createElement("div");
  box.className = "numbered";
  const numbers = document.createElement("pre");
  numbers.className = "line-numbers";
  numbers.ariaHidden = "true";
  area.replaceWith(box);
  box.append(numbers, area);
  let shown = 0;
  const update = () => {
    const count = area.value.split("\n").length;
    if (count !== shown) numbers.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
    shown = count;
  };
  area.addEventListener("input", update);
  area.addEventListener("scroll", () => {
    numbers.scrollTop = area.scrollTop;
  });
  update();
}

/**
 * Selects a line from a column to its end, and scrolls the line to the middle of the text area.
 * @param {HTMLTextAreaElement} area
 * @param {number} line
 * @param {number} column
 */
function selectLine(area, line, column) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const length = (lines[line - 1] ?? "").length;
  area.focus();
  area.setSelectionRange(start + Math.min(column - 1, length), start + length);
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = (line - 1) * lineHeight - area.clientHeight / 2;
  area.scrollIntoView({ block: "nearest" });
}
