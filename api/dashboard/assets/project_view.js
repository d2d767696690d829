/** One project on the page: what can be downloaded of it at once, and how large that would be. */
import { ask, Refusal } from "./api.js";
import { setText, stamp } from "./dom.js";
import { setDownload } from "./download_link.js";
import { countOf, describeRefusal, formatBytes } from "./words.js";

/** @import { Place } from "./exports.js" */

/** @typedef {{ id: string, name: string, slug: string, createdAt: string }} Project */

/** @typedef {{ rowCounts: Record<string, number>, totalRows: number, estimatedBytes: number, syncAllowed: boolean }} Estimate */

/** The eight datasets, with the names people know them by. */
const DATASETS = {
  issues: "Issues",
  "issue-notes": "Issue notes",
  "status-history": "Status history",
  occurrences: "Occurrences",
  runs: "Runs",
  "agent-snapshots": "Agent snapshots",
  "analysis-summaries": "Analysis summaries",
  "analysis-records": "Analysis records",
};

/** @type {readonly ("ndjson" | "csv")[]} */
const FORMATS = ["ndjson", "csv"];

/**
 * Makes the view of a project. Its size is asked for when it is opened.
 *
 * @param {Project} project
 * @param {Place} place
 * @returns {HTMLElement}
 */
export function createProjectView(project, { isPublisher, signal }) {
  const { root, part } = stamp("project");
  const path = `/export/projects/${project.id}`;
  /** @param {Refusal | null} refusal */
  const onRefused = (refusal) =>
    setText(part("problem", HTMLElement), refusal ? describeRefusal(refusal) : "");
  setText(part("name", HTMLElement), project.name);
  part("bundle", HTMLElement).hidden = !isPublisher;
  part("bundle-note", HTMLElement).hidden = isPublisher;
  for (const format of FORMATS) {
    const link = part(`bundle-${format}`, HTMLAnchorElement);
    link.ariaLabel = `Bundle of ${project.name} as ${format.toUpperCase()}`;
    setDownload(link, { path: `${path}/bundle?format=${format}`, onRefused });
  }
  const rowCounts = Object.entries(DATASETS).map(([name, title]) => {
    const dataset = stamp("dataset");
    setText(dataset.part("name", HTMLElement), title);
    for (const format of FORMATS) {
      const link = dataset.part(format, HTMLAnchorElement);
      link.ariaLabel = `${title} of ${project.name} as ${format.toUpperCase()}`;
      setDownload(link, { path: `${path}/${name}?format=${format}`, onRefused });
    }
    part("datasets", HTMLElement).append(dataset.root);
    return { name, element: dataset.part("rows", HTMLElement) };
  });

  /** @param {Estimate} estimate */
  function showEstimate(estimate) {
    const size = `${countOf(estimate.totalRows, "row")}, about ${formatBytes(estimate.estimatedBytes)} before compression`;
    setText(part("estimate", HTMLElement), `All eight datasets in one ZIP: ${size}.`);
    for (const { name, element } of rowCounts)
      setText(element, countOf(estimate.rowCounts[name] ?? 0, "row"));
    part("bundle-links", HTMLElement).hidden = !estimate.syncAllowed;
    part("too-large", HTMLElement).hidden = estimate.syncAllowed;
  }

  const details = /** @type {HTMLDetailsElement} */ (root.querySelector("details"));
  details.addEventListener("toggle", async () => {
    if (!details.open || !isPublisher) return;
    setText(part("estimate", HTMLElement), "All eight datasets in one ZIP; counting…");
    try {
      const { body } = await ask(`${path}/estimate`, { signal });
      showEstimate(body.data);
      onRefused(null);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      setText(part("estimate", HTMLElement), "All eight datasets in one ZIP.");
      onRefused(error);
    }
  });
  return root;
}
