/** One export job as a row of the list. Scripts replace whole rows. */
import type { VisibilityFlag } from "../../../shared/exports/datasets.ts";
import { formatBytes } from "../../../shared/format_bytes.ts";
import { FORMAT_NAMES } from "../../../shared/vocabulary.ts";
import type { ExportJob } from "../../exports/export_job.ts";
import { EXPORTS_PATH } from "../addresses.ts";
import { hiddenField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageSession } from "../page_session.ts";
import { capitalized, countOf } from "../parts.ts";
import { FLAG_NAMES, FLAGS, formatDistance, timeTag } from "./format.ts";

const LOOKS: Readonly<Record<string, string>> = {
  queued: "busy",
  running: "busy",
  ready: "good",
  failed: "bad",
};

type ShownStatus = ExportJob["status"] | "canceled";

const FAILURES: Readonly<Record<string, string>> = {
  BUILD_TIMEOUT:
    "The build exceeded its time limit. Start it again. If this keeps happening, ask your operator to raise the limit.",
  ARTIFACT_STORAGE_FAILED:
    "The file could not be stored. Ask your operator to check the storage, then start it again.",
  ORGANIZATION_GONE: "The organization was deleted while the export was in the queue.",
};

interface JobRow {
  job: ExportJob;
  /** "you", a username, or the start of a former member's id. */
  requester: string;
  session: PageSession;
  /** The reason for highlighting the row; undefined for other rows. */
  note?: string | undefined;
  /** Whether the row gets the focus when the page opens. */
  isTarget: boolean;
}

/** Returns the displayed status. A job with an expired file is "expired", even if the file is not deleted yet. */
function statusOf({ status, expiresAt, errorCode }: ExportJob): ShownStatus {
  if (errorCode === "CANCELED") return "canceled";
  return status === "ready" && expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()
    ? "expired"
    : status;
}

export function renderJob(row: JobRow): Html {
  const { job, requester, note, isTarget } = row;
  const status = statusOf(job);
  const facts = describeContent(job);
  return html`<li class="job${note && html` highlighted`}" id="job-${job.id}" tabindex="-1" data-number="${job.number}" data-status="${status}"${
    isTarget && html` data-target`
  }>
  <div class="job-head">
    <h3><span class="visually-hidden">Export </span><span data-part="number">#${job.number}</span> · ${timeTag(job.createdAt)}</h3>
    <span class="badge ${LOOKS[status]}" data-part="badge" data-status="${status}">${capitalized(status)}</span>
    ${renderActions(row, status)}
  </div>
  ${note && html`<p class="notice" data-part="note">${note}</p>`}
  <p class="quiet" data-part="facts">${FORMAT_NAMES[job.format]} · as of ${timeTag(job.asOf)} · requested by <span data-part="who">${requester}</span>${
    job.since !== undefined && html` · since ${timeTag(job.since)}`
  }</p>
  ${facts !== "" && html`<p class="quiet" data-part="visibility">${capitalized(facts)}</p>`}
  ${renderState(job, status)}
  <div class="problem" data-part="problem" role="alert"></div>
</li>`;
}

function renderState(job: ExportJob, status: ShownStatus): Content {
  if (status === "queued") return html`<div class="progress"><p>${describeWait(job)}</p></div>`;
  if (status === "running") return renderProgress(job);
  if (status === "canceled") return html`<p data-part="outcome">${job.errorMessage}.</p>`;
  if (status === "expired") return html`<p data-part="outcome">The file has expired.</p>`;
  if (status === "failed") {
    const { errorCode = "", errorMessage = "" } = job;
    return html`<p class="failure" data-part="failure">${FAILURES[errorCode] ?? `${errorMessage}.`} <code title="${errorMessage}">${errorCode}</code></p>`;
  }
  const { projectsTotal, rowsWritten } = job.progress;
  return html`<p data-part="outcome">${countOf(projectsTotal, "project")}, ${countOf(rowsWritten, "row")}. ${
    job.expiresAt !== undefined &&
    html`<span class="quiet">Expires <time data-part="expires" datetime="${job.expiresAt}" title="${job.expiresAt}">${formatDistance(job.expiresAt)}</time></span>`
  }</p>`;
}

const WAITS = {
  storage: "Waiting because the file cannot be stored now.",
  database: "Waiting because the database has failed.",
} as const;

function describeWait({ waitingFor, retryAt }: ExportJob): Content {
  if (waitingFor === undefined || retryAt === undefined) return "Waiting in queue.";
  const next =
    Date.parse(retryAt) > Date.now()
      ? html`The next attempt begins <time datetime="${retryAt}" title="${retryAt}">${formatDistance(retryAt)}</time>.`
      : "The next attempt begins now.";
  return html`${WAITS[waitingFor]} ${next}`;
}

function renderProgress({ attempt, progress }: ExportJob): Html {
  const { projectsDone, projectsTotal, rowsWritten, bytesWritten } = progress;
  const counts = [
    `${projectsDone} of ${countOf(projectsTotal, "project")}`,
    countOf(rowsWritten, "row"),
    formatBytes(bytesWritten),
    ...(attempt > 1 ? [`attempt ${attempt} of 3`] : []),
  ].join(" · ");
  const bar = projectsTotal > 0 && html` max="${projectsTotal}" value="${projectsDone}"`;
  return html`<div class="progress">
    <progress aria-label="Projects written"${bar}></progress>
    <p>${projectsTotal > 0 ? counts : "Starting…"}</p>
  </div>`;
}

function renderActions({ job, session }: JobRow, status: ShownStatus): Html {
  const { id, number, artifact } = job;
  const isActive = status === "queued" || status === "running";
  if (isActive) {
    const confirm = status === "running" && html` data-confirm="Stop building export #${number}?"`;
    return html`<form class="actions" method="post" action="${EXPORTS_PATH}/jobs/${id}/cancel"${confirm}>
      ${tokenField(session)}<input type="hidden" name="force" value="${String(status === "running")}">
      <button type="submit" data-part="cancel" aria-label="Cancel export #${number}">Cancel</button>
    </form>`;
  }
  const label = `Download ZIP (${formatBytes(artifact?.bytes ?? 0)})`;
  return html`<div class="actions">
    ${
      status === "ready" &&
      html`<a class="button primary" data-part="download" href="/api/v1/export/jobs/${id}/download" download aria-label="${label}, export #${number}">${label}</a>`
    }
    ${renderAgain(job, session)}
  </div>`;
}

/** Renders two forms that start an export with the job's settings: a full export, and one of later changes. */
function renderAgain(job: ExportJob, session: PageSession): Html {
  const flags = includedFlags(job).map((flag) => hiddenField(flag, "true"));
  const hidden = [hiddenField("format", job.format), ...flags];
  const form = (
    label: Content,
    more: Content,
  ) => html`<form method="post" action="${EXPORTS_PATH}">${tokenField(session)}${hidden}${more}
      <button type="submit">${label} <span class="visually-hidden">as export #${job.number}</span></button></form>`;
  const canFollow = job.status === "ready" || job.status === "expired";
  return html`${form("Start again", null)}${
    canFollow && form(html`Export changes since ${timeTag(job.asOf)}`, hiddenField("since", job.asOf))
  }`;
}

/** The job's field for each flag. */
const KEYS: Readonly<Record<VisibilityFlag, keyof ExportJob["visibility"]>> = {
  include_resolved: "includeResolved",
  include_deleted: "includeDeleted",
  include_archived: "includeArchived",
  include_superseded: "includeSuperseded",
};

function includedFlags({ visibility }: ExportJob): VisibilityFlag[] {
  return FLAGS.filter((flag) => visibility[KEYS[flag]]);
}

/** Lists differences from a default export, which has no deleted, archived or superseded rows. Empty without differences. */
function describeContent(job: ExportJob): string {
  const extras = includedFlags(job).filter((flag) => flag !== "include_resolved");
  const parts = [
    extras.length > 0 && `with ${extras.map((flag) => FLAG_NAMES[flag].toLowerCase()).join(", ")}`,
    !job.visibility.includeResolved && "without resolved issues",
    job.since !== undefined && "only changes",
  ];
  return parts.filter((part) => part !== false).join("; ");
}
