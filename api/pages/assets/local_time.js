/** Times in the reader's own zone. */

/** The pages are in English; the reader's variant of English decides the formats. */
const LOCALE = navigator.languages.find(isEnglish) ?? "en-GB";
const INSTANT = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const EXACT_INSTANT = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "long" });

/**
 * Chromium may say `en-US@posix`, which formats refuse.
 * @param {string} language
 */
function isEnglish(language) {
  try {
    return Intl.getCanonicalLocales(language)[0]?.startsWith("en") ?? false;
  } catch {
    return false;
  }
}

/**
 * Shows the times in local time, with the exact one on pointing at them.
 *
 * @param {ParentNode} root
 */
export function showLocalTimes(root) {
  for (const element of root.querySelectorAll("time")) {
    const instant = new Date(element.dateTime);
    if ("local" in element.dataset) element.textContent = INSTANT.format(instant);
    element.title = EXACT_INSTANT.format(instant);
  }
}
