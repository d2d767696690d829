/**
 * What this tab keeps until it is closed, such as the fields of a form. Where the browser denies that or has no room, pages
 * work without it.
 */

/**
 * Returns null if nothing is kept.
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
 * Returns what a form would send, without the fields that belong to the session.
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
    // Full or denied.
  }
}
