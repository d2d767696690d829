/** Shows the forms that use or create passkeys if the browser supports them. Otherwise, the page lists what is missing. */

/** Messages for browser errors, by error name. The browser's own messages are written for developers. */
/** @type {Record<string, Record<string, string>>} */
const PROBLEMS = {
  create: {
    NotAllowedError: "No passkey was added: you canceled, or the device did not answer in time. Try again.",
    InvalidStateError: "This device already has a passkey of your account.",
  },
  get: {
    NotAllowedError:
      "No passkey was used: you canceled, it took too long, or this device has none of your passkeys. Try again, or use a code.",
  },
};

/** An error whose message is shown to the user. */
class Refusal extends Error {}

/**
 * @param {HTMLFormElement} form
 * @returns {Promise<any>} the options of the passkey
 */
async function fetchOptions(form) {
  const fields = Object.fromEntries(
    ["loginToken", "password"].flatMap((name) => {
      const input = form.elements.namedItem(name);
      return input instanceof HTMLInputElement && input.value !== "" ? [[name, input.value]] : [];
    }),
  );
  const response = await fetch(form.dataset["optionsFrom"] ?? "", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  }).catch(() => {
    throw new Refusal("The service cannot be reached. Check your connection and try again.");
  });
  const { data, error } = await response.json();
  if (error) throw new Refusal(error.message);
  return data.options;
}

/** @param {any} options @param {string} does */
function askForPasskey(options, does) {
  return does === "create"
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

/** @param {unknown} error @param {{ does: string, host: string }} request */
function describe(error, { does, host }) {
  if (error instanceof Refusal) return error.message;
  const name = error instanceof Error ? error.name : "";
  if (name === "SecurityError") return `Passkeys belong to ${host}. Open this page there.`;
  return PROBLEMS[does]?.[name] ?? "The passkey failed. Try again.";
}

/** @param {HTMLFormElement} form @param {HTMLElement} problem */
async function submit(form, problem) {
  const passkey = form.elements.namedItem("passkey");
  if (!(passkey instanceof HTMLInputElement) || form.ariaBusy === "true") return;
  const { does = "" } = form.dataset;
  let host = "another address";
  form.ariaBusy = "true";
  problem.textContent = "";
  try {
    const options = await fetchOptions(form);
    host = options.rp?.id ?? options.rpId ?? host;
    passkey.value = JSON.stringify(await askForPasskey(options, does));
    form.submit();
  } catch (error) {
    problem.textContent = describe(error, { does, host });
  }
  form.ariaBusy = null;
}

const canUse = "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;

for (const form of document.querySelectorAll("form[data-options-from]")) {
  const problem = form.querySelector("[role=alert]");
  if (!canUse || !(form instanceof HTMLFormElement) || !(problem instanceof HTMLElement)) continue;
  form.hidden = false;
  const missing = form.parentElement?.querySelector("[data-missing]");
  if (missing instanceof HTMLElement) missing.hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(form, problem);
  });
}
