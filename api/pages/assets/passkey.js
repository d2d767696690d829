/** Adds the buttons that use a passkey, or make one. Without this script, the page has no such buttons. */

/**
 * @param {HTMLFormElement} form
 * @returns {Promise<string>} the response of the passkey, as JSON
 */
async function askForPasskey(form) {
  const { optionsFrom = "", does = "" } = form.dataset;
  const fields = Object.fromEntries(
    ["loginToken", "password"].flatMap((name) => {
      const input = form.elements.namedItem(name);
      return input instanceof HTMLInputElement && input.value !== "" ? [[name, input.value]] : [];
    }),
  );
  const response = await fetch(optionsFrom, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  });
  const { data, error } = await response.json();
  if (error) throw new Error(error.message);
  const credential =
    does === "create"
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(data.options),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(data.options),
        });
  return JSON.stringify(credential);
}

/** @param {HTMLFormElement} form @param {HTMLElement} problem */
async function submit(form, problem) {
  problem.textContent = "";
  try {
    const passkey = form.elements.namedItem("passkey");
    if (!(passkey instanceof HTMLInputElement)) return;
    passkey.value = await askForPasskey(form);
    form.submit();
  } catch (error) {
    problem.textContent = `No passkey was used. ${error instanceof Error ? error.message : ""}`;
  }
}

for (const form of document.querySelectorAll("form[data-options-from]")) {
  if (!(form instanceof HTMLFormElement) || !("PublicKeyCredential" in window)) continue;
  const problem = form.querySelector("[role=alert]");
  if (!(problem instanceof HTMLElement)) continue;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(form, problem);
  });
}
