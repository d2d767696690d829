/** The account in the header: the choice of the organization, and signing out. */

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
  // A click on another organization leads there, without the button.
  org.addEventListener("change", () => {
    if (usesKeys) button.hidden = false;
    else org.form?.submit();
  });
}

// Browsers ignore the Clear-Site-Data of the response over http, and some always do.
document.addEventListener("submit", ({ submitter }) => {
  if (!submitter?.matches("#sign-out, [value=sign-out]")) return;
  try {
    sessionStorage.clear();
  } catch {
    // Without storage, there is nothing to forget.
  }
});
