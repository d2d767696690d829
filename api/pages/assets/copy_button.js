/** Shows the buttons that copy text from the page. Without this script or a clipboard, the buttons stay hidden. */

/** @param {HTMLButtonElement} button */
async function copy(button) {
  const source = document.getElementById(button.dataset["copies"] ?? "");
  if (!source) return;
  const text = button.textContent;
  try {
    await navigator.clipboard.writeText((source.textContent ?? "").trim());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Cannot copy";
    getSelection()?.selectAllChildren(source);
  }
  setTimeout(() => {
    button.textContent = text;
  }, 2_000);
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  if (!(button instanceof HTMLButtonElement) || !("clipboard" in navigator)) continue;
  button.hidden = false;
  button.addEventListener("click", () => void copy(button));
}
