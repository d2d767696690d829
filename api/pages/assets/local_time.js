/** Shows times in the reader's time zone. */

/** The pages are in English, so the reader's variety of English determines the date formats. */
const LOCALE = navigator.languages.find(isEnglish) ?? "en-GB";
const INSTANT = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const EXACT_INSTANT = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "long" });

/**
 * Returns whether a language is English. Chromium may report `en-US@posix`, which `Intl` rejects.
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
 * Shows times in local time, with the exact time as a tooltip.
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
