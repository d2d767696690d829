/** The choice of the organization in the header: a click on another one leads there, without the button. */

const org = document.getElementById("org");
const button = org instanceof HTMLSelectElement && org.form?.querySelector("button");
if (org instanceof HTMLSelectElement && button) {
  button.hidden = true;
  // The keys of a closed list choose one entry after the other, so they only offer the button.
  let usesKeys = false;
  org.addEventListener("keydown", () => {
    usesKeys = true;
  });
  org.addEventListener("pointerdown", () => {
    usesKeys = false;
  });
  org.addEventListener("change", () => {
    if (usesKeys) button.hidden = false;
    else org.form?.submit();
  });
}
