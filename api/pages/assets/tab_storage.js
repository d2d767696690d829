/**
 * Stores values such as form fields until the tab is closed. Pages also work if the browser denies storage or the storage is
 * full.
 */

/**
 * Returns the value stored under a key, or null.
 * @param {string} key
 */
export function readKept(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Returns the fields that a form would send, except those that belong to the session.
 * @param {HTMLFormElement} form
 * @returns {[string, string][]}
 */
export function readFields(form) {
  const fields = [...new FormData(form)].filter(([name]) => name !== "form_token" && name !== "org");
  return fields.map(([name, value]) => [name, String(value)]);
}

/**
 * @param {string} key
 * @param {unknown} value
 */
export function keep(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The storage is full, or the browser denies access to it.
  }
}
