/** The form that starts an organization export, or estimates it. */
import { formatBytes } from "../../../shared/format_bytes.ts";
import { FORMAT_NAMES } from "../../../shared/vocabulary.ts";
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { estimateBundle } from "../../exports/estimate.ts";
import { queueExportJob } from "../../exports/queue_job.ts";
import { EXPORTS_PATH, exportPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { choice, type FormProblems, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type SignedInPage, seeOther } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { countOf } from "../parts.ts";
import { FLAG_NAMES, FLAGS } from "./format.ts";
import { needsRole, needsTier, tierNote } from "./requirements.ts";

/** The maximum number of projects in an estimate, which runs one query per project. */
const MAX_ESTIMATED_PROJECTS = 20;

const FORMATS = [
  ["ndjson", "Lossless: one JSON object per line."],
  ["csv", "For spreadsheets; formulas are escaped."],
  ["parquet", "For data tools; typed columns."],
] as const;

const FLAG_HINTS = {
  include_resolved: "Completed, won’t fix and false positive, with their notes and history.",
  include_deleted: "Issues in the trash and their notes and history.",
  include_archived: "Archived runs with their snapshots, occurrences and analyses.",
  include_superseded: "Analysis rows replaced by a later run.",
} as const;

/** The form's message after submission: why the export was rejected, or its estimated size. */
export interface StartNote {
  problem?: string;
  estimate?: string;
}

/** Describes why an export was rejected, in the terms of the page. */
function describeProblem({ code, message, details, fields }: FormProblems, org: PageOrg): string {
  if (fields.has("as_of")) return "“As of” must not be in the future.";
  if (code === "SUBSCRIPTION_REQUIRED") return needsTier("Exports require", org);
  if (code === "INSUFFICIENT_ORG_ROLE") return needsRole(org);
  if (code === "EXPORT_JOB_LIMIT") {
    const used = `This organization has used up its ${countOf(Number(details["limit"] ?? 0), "export")} per hour.`;
    return `${used} You can start the next one when an hour has passed since the first of them began.`;
  }
  return message;
}

/** The form's labels for the API's parameters. */
const LABELS: Readonly<Record<string, string>> = { ...FLAG_NAMES, as_of: "As of" };

type Queued = ResponseOf<typeof queueExportJob> & { message?: string };

/** POST: starts the export and redirects to its row, or returns a message for the form. */
export async function startExport(page: SignedInPage, org: PageOrg): Promise<Response | StartNote> {
  if (page.form.get("action") === "estimate") return { estimate: await estimate(page, org) };
  const response = await page.send(queueExportJob, { org: org.slug, body: toOptions(page.form) });
  const { job, message } = (await response.json()) as Queued;
  const problem = message?.replaceAll(/\w+_\w+/g, (name) => `“${LABELS[name] ?? name}”`);
  if (problem !== undefined) return { problem: `${problem}.` };
  return seeOther(exportPath(job.id, response.status === 201 ? "started" : "running"));
}

/** Returns the body of POST /export/jobs, which is also the query of an estimate. */
function toOptions(form: URLSearchParams) {
  const asOf = form.get("as_of") ?? "";
  const since = form.get("since") ?? "";
  return {
    format: form.get("format") ?? "",
    ...Object.fromEntries(FLAGS.map((flag) => [flag, form.has(flag)])),
    ...(asOf === "" ? {} : { as_of: toInstant(asOf, form.get("as_of_offset")) }),
    ...(since === "" ? {} : { since }),
  };
}

/** Converts a time from the form. It is in UTC unless a script has sent the number of minutes that the browser is behind UTC. */
function toInstant(local: string, offset: string | null): string {
  const time = Date.parse(`${local}Z`) + (Number(offset) || 0) * 60_000;
  return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : local;
}

async function estimate(page: SignedInPage, org: PageOrg): Promise<string> {
  const { data } = await page.call(listOrganizationProjects, {
    params: { slug: org.slug },
    query: { limit: MAX_ESTIMATED_PROJECTS },
  });
  const { projects, total } = data;
  if (total > MAX_ESTIMATED_PROJECTS) {
    return `Estimates are for up to ${MAX_ESTIMATED_PROJECTS} projects. This organization has ${total}.`;
  }
  const query = toOptions(page.form);
  let rows = 0;
  let bytes = 0;
  for (const { id } of projects) {
    const { data } = await page.call(estimateBundle, { params: { project: id }, query });
    rows += data.totalRows;
    bytes += data.estimatedBytes;
  }
  const size = `${countOf(rows, "row")}, about ${formatBytes(bytes)} before compression`;
  return `${countOf(projects.length, "project")}, ${size}. The ZIP file is usually smaller.`;
}

/** Renders the section, without the form if the tier does not include exports. */
export function renderStart(page: SignedInPage, org: PageOrg, note: StartNote): Html {
  const isPaying = org.subscriptionTier !== "free";
  return html`<section class="start card stack" id="start" aria-labelledby="start-title" tabindex="-1">
  <h2 id="start-title">Start an export</h2>
  ${isPaying ? renderForm(page, org, note) : html`<p class="notice">${tierNote("Exports require", org)}</p>`}
</section>`;
}

function renderForm({ session, form, problems }: SignedInPage, org: PageOrg, note: StartNote): Html {
  const isTyped = form.size > 0;
  const format = form.get("format") ?? "ndjson";
  const isChecked = (name: string) => (isTyped ? form.has(name) : name === "include_resolved");
  const hasInvalidTime = problems?.fields.has("as_of") ?? false;
  const invalid = hasInvalidTime && html` aria-invalid="true" autofocus`;
  const problem = problems ? describeProblem(problems, org) : note.problem;
  const focus = problem !== undefined && !hasInvalidTime && html` tabindex="-1" autofocus`;
  return html`<form id="start-form" method="post" action="${EXPORTS_PATH}"${isTyped && html` data-typed`}>
    ${tokenField(session)}
    <fieldset>
      <legend>Format</legend>
      ${FORMATS.map(([value, hint]) => choice("radio", "format", [value, hinted(FORMAT_NAMES[value], hint)], format === value))}
    </fieldset>
    <fieldset>
      <legend>Include</legend>
      ${FLAGS.map((flag) => choice("checkbox", flag, ["true", hinted(FLAG_NAMES[flag], FLAG_HINTS[flag])], isChecked(flag)))}
    </fieldset>
    <label for="as-of">As of <span class="quiet">(optional)</span></label>
    <input id="as-of" name="as_of" type="datetime-local" step="1" aria-describedby="as-of-help start-problem" value="${form.get("as_of")}"${invalid}>
    <input type="hidden" name="as_of_offset" value="${form.get("as_of_offset")}">
    <small id="as-of-help" class="quiet">In <span data-zone>UTC</span>. Excludes rows created later. Default: now.</small>
    <div id="start-problem" class="problem" role="alert"${focus}>${problem}</div>
    ${note.estimate !== undefined && html`<p id="estimate" class="notice" role="status" tabindex="-1">${note.estimate}</p>`}
    <div class="actions">
      <button type="submit" class="primary">Start export</button>
      <button type="submit" name="action" value="estimate">Estimate size</button>
    </div>
  </form>`;
}

function hinted(label: string, hint: string): Html {
  return html`<b>${label}</b> <small>${hint}</small>`;
}
