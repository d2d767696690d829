/** One project on the page: its downloads and their size. */
import { ask, Refusal } from "./api.js";
import { setText, stamp } from "./dom.js";
import { setDownload } from "./download_link.js";
import { countOf, describeRefusal, formatBytes } from "./words.js";

/** @import { Part } from "./dom.js" */
/** @import { Place } from "./exports.js" */

/** @typedef {{ id: string, name: string, slug: string, createdAt: string }} Project */

/** @typedef {{ rowCounts: Record<string, number>, totalRows: number, estimatedBytes: number, syncAllowed: boolean }} Estimate */

const BUNDLE = "All eight datasets in one ZIP";

/** The eight datasets and their titles. */
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

/** @type {readonly ("ndjson" | "csv" | "parquet")[]} */
const FORMATS = ["ndjson", "csv", "parquet"];

/**
 * Makes the view of a project: its name, and the downloads when it is opened.
 *
 * @param {Project} project
 * @param {Place} place
 * @returns {HTMLElement}
 */
export function createProjectView(project, place) {
  const { root, part } = stamp("project");
  setText(part("name", HTMLElement), project.name);
  const details = /** @type {HTMLDetailsElement} */ (root.querySelector("details"));
  // Created when opened: an organization may have thousands of projects.
  details.addEventListener("toggle", () => details.append(createDownloads(project, place)), { once: true });
  return root;
}

/**
 * Makes the links of a project, and asks for its size.
 *
 * @param {Project} project
 * @param {Place} place
 * @returns {HTMLElement}
 */
function createDownloads(project, { isPublisher, signal }) {
  const { root, part } = stamp("project-body");
  const path = `/export/projects/${project.id}`;
  /** @param {Refusal | null} refusal */
  const onRefused = (refusal) =>
    setText(part("problem", HTMLElement), refusal ? describeRefusal(refusal) : "");
  part("bundle", HTMLElement).hidden = !isPublisher;
  part("bundle-note", HTMLElement).hidden = isPublisher;
  setLinks(part, {
    prefix: "bundle-",
    path: `${path}/bundle`,
    title: `Bundle of ${project.name}`,
    onRefused,
  });
  const rowCounts = Object.entries(DATASETS).map(([name, title]) => {
    const dataset = stamp("dataset");
    setText(dataset.part("name", HTMLElement), title);
    const file = { prefix: "", path: `${path}/${name}`, title: `${title} of ${project.name}` };
    setLinks(dataset.part, { ...file, onRefused });
    part("datasets", HTMLElement).append(dataset.root);
    return { name, element: dataset.part("rows", HTMLElement) };
  });

  /** @param {Estimate} estimate */
  function showEstimate({ estimatedBytes, rowCounts: counts, syncAllowed, totalRows }) {
    const size = `${countOf(totalRows, "row")}, about ${formatBytes(estimatedBytes)} before compression`;
    setText(part("estimate", HTMLElement), `${BUNDLE}: ${size}.`);
    for (const { name, element } of rowCounts) setText(element, countOf(counts[name] ?? 0, "row"));
    part("bundle-links", HTMLElement).hidden = !syncAllowed;
    part("too-large", HTMLElement).hidden = syncAllowed;
  }

  async function estimate() {
    setText(part("estimate", HTMLElement), `${BUNDLE}; counting…`);
    try {
      const { body } = await ask(`${path}/estimate`, { signal });
      showEstimate(body.data);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      setText(part("estimate", HTMLElement), `${BUNDLE}.`);
      onRefused(error);
    }
  }

  if (isPublisher) void estimate();
  return root;
}

/**
 * Makes the links to a file in each format.
 *
 * @param {Part} part
 * @param {{ prefix: string, path: string, title: string, onRefused: (refusal: Refusal | null) => void }} file
 */
function setLinks(part, { prefix, path, title, onRefused }) {
  for (const format of FORMATS) {
    const link = part(prefix + format, HTMLAnchorElement);
    link.ariaLabel = `${title} as ${format.toUpperCase()}`;
    setDownload(link, { path: `${path}?format=${format}`, onRefused });
  }
}
