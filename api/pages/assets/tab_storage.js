/** What this tab keeps until it is closed. Where the browser denies that or has no room, pages work without it. */

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
