/** /dashboard/exports: the organization's exports, a form to start one, and project downloads. */
import { ApiError } from "../../../shared/errors.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { getExportJob } from "../../exports/jobs.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { renderJobs, type Target } from "./job_list.ts";
import { listProjects, renderProjects } from "./project_list.ts";
import { needsRole } from "./requirements.ts";
import { renderStart, type StartNote, startExport } from "./start_form.ts";

/** The organization and job that the address names. */
interface Destination {
  org: PageOrg | null;
  target: Target | null;
  /** A message about an unknown job or organization. */
  problem: string | null;
  /** The id of a job that the user may not see but may download. */
  fileOf: string | null;
}

const UNKNOWN_JOB = "This export does not exist, or you are not a member of its organization.";
const UNKNOWN_ORG = "The organization in this address does not exist, or you are not a member.";

export function showExports(page: SignedInPage): Promise<PageResult> {
  return renderExports(page, {});
}

export async function submitStart(page: SignedInPage): Promise<PageResult> {
  const { org } = page.session;
  if (!org) throw new ApiError("ORG_NOT_FOUND");
  const started = await startExport(page, org);
  return started instanceof Response ? started : renderExports(page, started);
}

async function readAddress(page: SignedInPage): Promise<Destination> {
  const { organizations, org } = page.session;
  const query = page.url.searchParams;
  const named = query.get("org");
  const isUnknown = named !== null && named !== org?.slug;
  const here = { org, target: null, problem: isUnknown ? UNKNOWN_ORG : null, fileOf: null };
  const id = query.get("job");
  if (id === null) return here;
  if (!isUuid(id)) return { ...here, problem: UNKNOWN_JOB };
  try {
    const { job } = await page.call(getExportJob, { params: { job_id: id } });
    const of = organizations.find((other) => other.id === job.organizationId);
    return { ...here, org: of ?? org, target: { job, as: query.get("as") ?? "link" }, problem: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "INSUFFICIENT_ORG_ROLE") return { ...here, fileOf: id };
    if (error.status !== 404) throw error;
    return { ...here, problem: UNKNOWN_JOB };
  }
}

async function renderExports(page: SignedInPage, note: StartNote): Promise<PageResult> {
  const { org, target, problem, fileOf } = await readAddress(page);
  const shown = { title: "Data exports", section: "exports", head: HEAD } as const;
  if (!org) {
    const text = "You are not a member of any organization.";
    return { ...shown, main: renderMain(html`<div id="problem" class="problem" role="alert">${text}</div>`) };
  }
  // Forms act on the organization of the page, which is the job's organization if the address names a job.
  const session = { ...page.session, org };
  const isPublisher = org.role !== "viewer";
  const isPaying = org.subscriptionTier !== "free";
  const [jobs, projects] = await Promise.all([
    isPublisher ? renderJobs({ ...page, session }, org, target) : null,
    isPaying ? listProjects(page, org) : [],
  ]);
  return {
    ...shown,
    org,
    main: renderMain(html`<div id="problem" class="problem" role="alert">${problem}</div>
  ${fileOf !== null && renderFileOffer(fileOf)}
  <div id="sections" class="sections">
    ${renderJobSection(org, jobs, isPaying)}
    ${isPublisher && renderStart({ ...page, session }, org, note)}
    ${renderProjects(org, projects, page.url.searchParams.get("projects") ?? "")}
  </div>`),
  };
}

/** Preloads all modules, so that no import waits for another. */
const MODULES = ["job_rows.js", "local_time.js", "tab_storage.js"];
const HEAD = html`<script type="module" src="/dashboard/assets/exports.js"></script>
${MODULES.map((name) => html`<link rel="modulepreload" href="/dashboard/assets/${name}">\n`)}`;

function renderMain(content: Content): Html {
  return html`<h1>Data exports</h1>
${content}
<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>`;
}

function renderJobSection(org: PageOrg, jobs: Html | null, isPaying: boolean): Html {
  const isEmpty = jobs?.text.includes("<li") === false;
  return html`<section class="jobs stack" aria-labelledby="jobs-title">
      <h2 id="jobs-title" tabindex="-1">Organization exports</h2>
      <p class="quiet">One ZIP with every project of <span>${org.name}</span>.</p>
      ${jobs === null && html`<p class="notice">${needsRole(org)}</p>`}
      <div id="jobs-problem" class="problem" role="alert"></div>
      ${
        isEmpty &&
        html`<p id="jobs-empty" class="empty">No exports yet. ${
          isPaying &&
          html`<a href="#start">Start the first one</a>. It is built in the background; you get an email when it is ready.`
        }</p>`
      }
      ${jobs}
    </section>`;
}

/** Renders a download link. Every member may download the file, even one whose role cannot see jobs. */
function renderFileOffer(id: string): Html {
  return html`<p id="linked" class="notice">This link leads to an organization export. As a member you can <a href="/api/v1/export/jobs/${id}/download" download>download its file</a> until it expires.</p>`;
}
