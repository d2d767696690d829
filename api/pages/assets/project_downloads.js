/** The list of projects: a filter, and the downloads of a project below its name. */

/** Prepares the list, if the page has one. */
export function loadProjects() {
  const list = document.getElementById("projects");
  if (!list) return;
  // The event does not bubble.
  list.addEventListener("toggle", (event) => void loadDownloads(event.target), true);
  const filter = document.getElementById("filter");
  const text = document.getElementById("filter-text");
  const count = document.getElementById("filter-count");
  if (!filter || !count || !(text instanceof HTMLInputElement)) return;
  filter.hidden = !("wanted" in filter.dataset);
  text.addEventListener("input", () => {
    const wanted = text.value.trim().toLocaleLowerCase();
    const rows = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (list.children)];
    for (const row of rows) {
      row.hidden = !(row.dataset["name"] ?? "").toLocaleLowerCase().includes(wanted);
    }
    const matching = rows.filter((row) => !row.hidden).length;
    count.textContent = wanted === "" ? "" : `${matching} of ${rows.length} projects`;
  });
}

/**
 * Replaces the link to a project's page by the downloads on that page.
 *
 * @param {EventTarget | null} details
 */
async function loadDownloads(details) {
  const link = details instanceof HTMLDetailsElement && details.open && details.querySelector("a[data-load]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const body = link.closest(".project-body");
  link.ariaBusy = "true";
  const response = await fetch(link.href, { headers: { Accept: "text/html" } }).catch(() => null);
  link.ariaBusy = null;
  if (!response?.ok) return;
  if (response.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const loaded = page.querySelector(".project-body");
  if (loaded) body?.replaceWith(loaded);
}
