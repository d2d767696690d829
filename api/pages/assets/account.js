/** Handles the organization switcher and the sign-out button in the header. */

const org = document.getElementById("org");
const button = org instanceof HTMLSelectElement && org.form?.querySelector("button");
if (org instanceof HTMLSelectElement && button) {
  button.hidden = true;
  // In a closed list, each arrow key selects the next entry. Keyboard users confirm their choice with the button.
  let usesKeys = false;
  org.addEventListener("keydown", () => {
    usesKeys = true;
  });
  org.addEventListener("pointerdown", () => {
    usesKeys = false;
  });
  // Choosing an organization with the pointer needs no button.
  org.addEventListener("change", () => {
    if (usesKeys) button.hidden = false;
    else org.form?.submit();
  });
}

// Browsers ignore the Clear-Site-Data header over http, and some browsers also over https.
document.addEventListener("submit", ({ submitter }) => {
  if (!submitter?.matches("#sign-out, [value=sign-out]")) return;
  try {
    sessionStorage.clear();
  } catch {
    // If the browser denies access to storage, there is nothing to clear.
  }
});
