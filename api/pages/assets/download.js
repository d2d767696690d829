/** Downloads that are checked first, so that an error is shown on the page instead of a failed download. */

/** Responses to HEAD have no body, and proxies have their own: the status says what is wrong. */
/** @type {Record<number, string>} */
const PROBLEMS = {
  0: "The service cannot be reached. Check your connection and try again.",
  402: "Exports require a paid subscription.",
  403: "Your role in this organization does not allow this download.",
  404: "This project or export does not exist, or you are not a member of its organization.",
  409: "This export has no file: it is not built yet, or its build failed.",
  410: "This file has expired. Start a new export.",
  413: "This is too large for an immediate download. Start an organization export instead.",
  429: "Too many attempts. Try again in a moment.",
  503: "The service is busy. Try again in a moment.",
  504: "Counting the rows took too long. Start an organization export instead.",
};

/** The link whose file was found a moment ago. @type {EventTarget | null} */
let allowed = null;

/**
 * Handles a click on the page: a link to a file is followed once HEAD says that there is one.
 *
 * @param {MouseEvent} event
 */
export async function checkDownload(event) {
  const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
  if (!(link instanceof HTMLAnchorElement) || link === allowed) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || link.ariaBusy === "true") return;
  event.preventDefault();
  link.ariaBusy = "true";
  const status = await fetch(link.href, { method: "HEAD", cache: "no-store" }).then(
    (response) => response.status,
    () => 0,
  );
  link.ariaBusy = null;
  if (status === 401) return location.reload();
  const problem = (link.closest("li.job, .project-body") ?? document).querySelector(".problem");
  const isFound = status > 0 && status < 400;
  const text = isFound ? "" : (PROBLEMS[status] ?? "Something went wrong on our side. Try again.");
  if (problem && problem.textContent !== text) problem.textContent = text;
  if (!isFound) return;
  allowed = link;
  link.click();
  allowed = null;
}
