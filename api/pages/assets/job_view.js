/** One export job on the page. Its element is kept while the job changes, so that focus stays in it. */
import { Refusal } from "./api.js";
import { announce, say, setText, stamp, whileBusy } from "./dom.js";
import { setDownload } from "./download_link.js";
import { isActive } from "./job_watch.js";
import { countOf, describeRefusal, formatBytes, formatDistance, setTime } from "./words.js";

/** @import { Part } from "./dom.js" */

/**
 * An export job as the API shows it.
 *
 * @typedef {object} Job
 * @property {string} id
 * @property {number} number
 * @property {"queued" | "running" | "ready" | "expired" | "failed"} status
 * @property {"ndjson" | "csv" | "parquet"} format
 * @property {string} asOf
 * @property {string} createdAt
 * @property {string} requestedBy
 * @property {string} organizationId
 * @property {Record<"includeDeleted" | "includeArchived" | "includeSuperseded" | "includeResolved", boolean>} visibility
 * @property {number} attempt
 * @property {Record<"projectsDone" | "projectsTotal" | "rowsWritten" | "bytesWritten", number>} progress
 * @property {string} [expiresAt]
 * @property {string} [finishedAt]
 * @property {{ fileName: string, bytes: number, sha256: string }} [artifact]
 * @property {string} [errorCode]
 * @property {string} [errorMessage]
 */

/** @type {Record<Job["format"], string>} */
const FORMAT_NAMES = { ndjson: "NDJSON", csv: "CSV", parquet: "Parquet" };

/**
 * @typedef {object} JobView
 * @property {HTMLElement} root
 * @property {(job: Job) => void} update
 * @property {(note: string | null) => void} highlight points it out, with a reason
 * @property {() => void} unhighlight removes the highlight and its reason
 * @property {() => void} tick updates relative times
 */

const BADGES = {
  queued: "Queued",
  running: "Running",
  ready: "Ready",
  expired: "Expired",
  failed: "Failed",
};

/** @type {Record<string, string>} */
const FAILURES = {
  BUILD_TIMEOUT:
    "The build exceeded its time limit. Start it again. If this keeps happening, ask your operator to raise the limit.",
  BUILD_FAILED: "The build failed several times. Start it again.",
  ARTIFACT_STORAGE_FAILED:
    "The file could not be stored. Ask your operator to check the storage, then start it again.",
  ORGANIZATION_GONE: "The organization was deleted while the export was in the queue.",
};

/** @param {Job} job */
const isCanceled = (job) => job.errorCode === "CANCELED";

/**
 * The status as shown: a job whose file has expired is "expired", even if the file is not deleted yet.
 *
 * @param {Job} job
 */
function statusOf({ status, expiresAt }) {
  const isOver = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  return status === "ready" && isOver ? "expired" : status;
}

/** @param {Job} job */
function badgeOf(job) {
  return isCanceled(job) ? "Canceled" : BADGES[statusOf(job)];
}

/**
 * Creates the view of a job.
 *
 * @param {Job} first
 * @param {{ nameOf: (userId: string) => Promise<string>, cancel: (job: Job) => Promise<Job> }} options `cancel` throws
 *   a `Refusal`
 * @returns {JobView}
 */
export function createJobView(first, { nameOf, cancel }) {
  const { root, part } = stamp("job");
  let job = first;
  const problem = part("problem", HTMLElement);
  const button = part("cancel", HTMLButtonElement);

  /** @param {Refusal | null} refusal */
  const showRefusal = (refusal) => setText(problem, refusal ? describeRefusal(refusal) : "");

  /** @param {Job} next */
  function update(next) {
    if (next.status !== job.status) {
      announce(`Export #${next.number}: ${badgeOf(next)}`);
      // The reason describes the old status.
      say(part("note", HTMLElement), null);
      if (!isActive(next)) unhighlight();
    }
    job = next;
    // Hiding the focused control would move the focus to the top of the page.
    const focused = document.activeElement;
    showState(part, job);
    showProgress(part, job);
    showOutcome(part, job);
    if (focused instanceof HTMLElement && root.contains(focused) && focused.hidden) root.focus();
  }

  function unhighlight() {
    say(part("note", HTMLElement), null);
    root.classList.remove("highlighted");
  }

  function tick() {
    if (job.expiresAt) update(job);
  }

  async function cancelIt() {
    if (job.status === "running" && !confirm(`Stop building export #${job.number}?`)) return;
    try {
      update(await cancel(job));
      showRefusal(null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      showRefusal(error);
    }
  }

  button.ariaLabel = `Cancel export #${job.number}`;
  button.addEventListener("click", () => void whileBusy(button, cancelIt));
  const path = `/export/jobs/${job.id}/download`;
  setDownload(part("download", HTMLAnchorElement), { path, onRefused: showRefusal });
  root.id = `job-${job.id}`;
  void nameOf(job.requestedBy).then((name) => setText(part("who", HTMLElement), name));
  setText(part("number", HTMLElement), `#${job.number}`);
  setTime(part("created", HTMLTimeElement), job.createdAt);
  setTime(part("as-of", HTMLTimeElement), job.asOf);
  setText(part("format", HTMLElement), FORMAT_NAMES[job.format]);
  setText(part("visibility", HTMLElement), describeVisibility(job.visibility));
  update(job);
  return {
    root,
    update,
    tick,
    highlight(note) {
      say(part("note", HTMLElement), note);
      root.classList.add("highlighted");
    },
    unhighlight,
  };
}

/** @param {Job["visibility"]} visibility */
function describeVisibility(visibility) {
  const extras = [
    visibility.includeDeleted ? "deleted issues" : "",
    visibility.includeArchived ? "archived runs" : "",
    visibility.includeSuperseded ? "superseded analyses" : "",
  ].filter((extra) => extra !== "");
  const also = extras.length > 0 ? `With ${extras.join(", ")}` : "";
  const without = visibility.includeResolved ? "" : "resolved issues";
  if (!without) return also;
  return also ? `${also}; without ${without}` : `Without ${without}`;
}

/**
 * @param {Part} part
 * @param {Job} job
 */
function showState(part, job) {
  const badge = part("badge", HTMLElement);
  badge.dataset["status"] = isCanceled(job) ? "canceled" : statusOf(job);
  setText(badge, badgeOf(job));
  part("cancel", HTMLElement).hidden = job.status !== "queued" && job.status !== "running";
}

/**
 * @param {Part} part
 * @param {Job} job
 */
function showProgress(part, job) {
  part("progress", HTMLElement).hidden = job.status !== "running" && job.status !== "queued";
  const bar = part("bar", HTMLProgressElement);
  const { projectsDone, projectsTotal, rowsWritten, bytesWritten } = job.progress;
  bar.hidden = job.status !== "running";
  bar.ariaLabel = "Projects written";
  if (projectsTotal > 0) {
    bar.max = projectsTotal;
    bar.value = projectsDone;
  } else bar.removeAttribute("value");
  const counts = [
    `${projectsDone} of ${countOf(projectsTotal, "project")}`,
    countOf(rowsWritten, "row"),
    formatBytes(bytesWritten),
  ].join(" · ");
  const again = job.attempt > 1 ? ` · attempt ${job.attempt} of 3` : "";
  const running = projectsTotal > 0 ? counts + again : "Starting…";
  setText(part("progress-text", HTMLElement), job.status === "queued" ? "Waiting in queue." : running);
}

/**
 * @param {Part} part
 * @param {Job} job
 */
function showOutcome(part, job) {
  const { artifact, progress } = job;
  const status = statusOf(job);
  const isReady = status === "ready";
  const written = `${countOf(progress.projectsTotal, "project")}, ${countOf(progress.rowsWritten, "row")}`;
  /** @type {Partial<Record<Job["status"], string>>} */
  const outcomes = { ready: `${written}.`, expired: "The file has expired." };
  say(part("outcome", HTMLElement), outcomes[status] ?? (isCanceled(job) ? `${job.errorMessage}.` : null));
  const download = part("download", HTMLElement);
  download.hidden = !isReady;
  setText(download, `Download ZIP (${formatBytes(artifact?.bytes ?? 0)})`);
  // Screen readers list links without their context.
  download.ariaLabel = `${download.textContent}, export #${job.number}`;
  part("expiry", HTMLElement).hidden = !isReady || !job.expiresAt;
  if (job.expiresAt) setTime(part("expires", HTMLTimeElement), job.expiresAt, formatDistance);
  const hasFailed = status === "failed" && !isCanceled(job);
  part("failure", HTMLElement).hidden = !hasFailed;
  const code = job.errorCode ?? "";
  setText(part("failure-text", HTMLElement), FAILURES[code] ?? job.errorMessage ?? "");
  setText(part("failure-code", HTMLElement), code);
  part("failure-code", HTMLElement).title = job.errorMessage ?? "";
}
