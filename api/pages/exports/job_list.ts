/** The organization's export jobs, newest first: a section of the exports page, and a page of older ones. */
import { ApiError } from "../../../shared/errors.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { listOrganizationMembers } from "../../accounts/organizations/own_orgs.ts";
import type { ExportJob } from "../../exports/export_job.ts";
import { cancelExportJob, listExportJobs } from "../../exports/jobs.ts";
import { EXPORTS_PATH, exportPath, withQuery } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOther } from "../page.ts";
import { findOwnOrg, type PageOrg } from "../page_session.ts";
import { readOffset } from "../parts.ts";
import { renderJob } from "./job_row.ts";

const PAGE_SIZE = 10;

/** Notes on a highlighted row, by the value of `?as=`. */
const NOTES: ReadonlyMap<string, string> = new Map([
  ["link", "This is the export from your link."],
  ["refused", "The export could not be canceled: its status has changed."],
  ["running", "This export is already running. You can start another when it has finished."],
]);

/** The job in the address. `as` is the reason for the link. */
export interface Target {
  job: ExportJob;
  as: string;
}

/** Renders the list with a link to older jobs. */
export async function renderJobs(page: SignedInPage, org: PageOrg, target: Target | null): Promise<Html> {
  const offset = readOffset(page.url);
  const list = await page.call(listExportJobs, { org: org.slug, query: { limit: PAGE_SIZE, offset } });
  const isListed = target === null || list.jobs.some(({ id }) => id === target.job.id);
  const jobs = isListed ? list.jobs : [target.job, ...list.jobs].toSorted(byNewest);
  const nameOf = await openNames(page, org, jobs);
  const older = offset + PAGE_SIZE < list.total;
  const rows = jobs.map((job) => {
    const isTarget = job.id === target?.job.id;
    const note = isTarget ? NOTES.get(target.as) : undefined;
    return renderJob({ job, note, isTarget, session: page.session, requester: nameOf(job.requestedBy) });
  });
  const olderPath = withQuery(`${EXPORTS_PATH}/jobs`, { organization: org.slug, offset: offset + PAGE_SIZE });
  return html`<ol id="jobs" class="rows" data-org="${org.slug}">${rows}</ol>
${older && html`<p><a class="button" id="older" href="${olderPath}">Show older</a></p>`}`;
}

function byNewest(a: ExportJob, b: ExportJob): number {
  return a.createdAt < b.createdAt ? 1 : -1;
}

/** Returns a function that returns a user's name. Loads the members only if another user has requested an export. */
async function openNames(
  { session, call }: SignedInPage,
  org: PageOrg,
  jobs: readonly ExportJob[],
): Promise<(userId: string) => string> {
  const ownId = session.user.id;
  const names = new Map<string, string>();
  if (jobs.some(({ requestedBy }) => requestedBy !== ownId)) {
    const { data } = await call(listOrganizationMembers, { params: { slug: org.slug } });
    for (const { userId, username } of data.members) names.set(userId, username);
  }
  names.set(ownId, "you");
  return (userId) => names.get(userId) ?? `user ${userId.slice(0, 8)}`;
}

/**
 * GET /dashboard/exports/jobs: a page of the list. Scripts load it to update rows and specify the rows' organization, because
 * the user may have chosen another organization in the meantime.
 */
export async function showJobs(page: SignedInPage): Promise<PageResult> {
  const named = page.url.searchParams.get("organization");
  const org = named === null ? page.session.org : findOwnOrg(page, named);
  if (!org) throw new ApiError("ORG_NOT_FOUND");
  // Forms act on the organization of their rows. The user's chosen organization does not change.
  const session = { ...page.session, org };
  return {
    title: `Exports of ${org.name}`,
    section: "exports",
    main: html`<h1>Organization exports</h1>
<p><a href="${EXPORTS_PATH}">All exports of ${org.name}</a></p>
${await renderJobs({ ...page, session }, org, null)}`,
  };
}

/** Redirects to the row if the job cannot be canceled. Signing in after an expired session also leads here. */
export function showCanceled({ problems }: SignedInPage, { job: id }: { job: string }): PageResult {
  return seeOther(exportPath(id, problems ? "refused" : "link"));
}

/** POST /dashboard/exports/jobs/{id}/cancel. */
export async function cancelJob(page: SignedInPage, { job: id }: { job: string }): Promise<PageResult> {
  if (!isUuid(id)) throw new ApiError("EXPORT_JOB_NOT_FOUND");
  const query = { force: page.form.get("force") === "true" };
  await page.call(cancelExportJob, { params: { job_id: id }, query });
  return seeOther(exportPath(id, "canceled"));
}
