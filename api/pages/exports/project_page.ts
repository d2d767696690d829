/** /dashboard/exports/projects/{project}: the downloads of one project, with or without filters. */
import { ApiError } from "../../../shared/errors.ts";
import {
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportFilter,
  FLAG_DEFAULTS,
  findExportDataset,
  type VisibilityFlag,
} from "../../../shared/exports/datasets.ts";
import { formatBytes } from "../../../shared/format_bytes.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { FORMAT_NAMES } from "../../../shared/vocabulary.ts";
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { exportDataset } from "../../exports/dataset.ts";
import { estimateBundle } from "../../exports/estimate.ts";
import { notFound } from "../../http/require_visible.ts";
import { EXPORTS_PATH, projectPath } from "../addresses.ts";
import { apiPath, type ResponseOf } from "../api_client.ts";
import { attempt, choice, renderOptions } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOther } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { capitalized, countOf } from "../parts.ts";
import { FLAG_NAMES } from "./format.ts";
import type { Project } from "./project_list.ts";

type Estimate = ResponseOf<typeof estimateBundle>["data"];

/** A project of one of the caller's organizations. */
type OwnProject = Project & { org: PageOrg };

interface ProjectParams {
  /** The project's id or slug. */
  project: string;
}

/** GET: shows the links, and a form with filters for each dataset. */
export async function showProject(page: SignedInPage, { project }: ProjectParams): Promise<PageResult> {
  return renderProject(page, await requireProject(page, project));
}

/** GET …/file: checks the filters and redirects to the API's file. If the API rejects a filter, shows the problem. */
export async function downloadFiltered(
  page: SignedInPage,
  { project: name }: ProjectParams,
): Promise<PageResult> {
  const project = await requireProject(page, name);
  const dataset = findExportDataset(page.url.searchParams.get("dataset") ?? "");
  if (!dataset) throw notFound("route");
  const query = new URLSearchParams(
    [...page.url.searchParams].filter(([name, value]) => value !== "" && !["org", "dataset"].includes(name)),
  );
  for (const name of ["since", "created_from", "created_to"]) {
    const value = query.get(name);
    if (value !== null && !/Z|[+-]\d\d:\d\d$/.test(value))
      query.set(name, `${value}${/T\d\d:\d\d$/.test(value) ? ":00" : ""}Z`);
  }
  const params = { project: project.id, dataset: dataset.name };
  const checked = await attempt(() => page.send(exportDataset, { method: "HEAD", params, query }));
  if (!checked.ok) return renderProject({ ...page, problems: checked.problems }, project);
  return seeOther(`/api/v1${apiPath(exportDataset, params)}?${query}`);
}

/**
 * Finds a project by id or slug, like the API. Searches the chosen organization first, and then the user's others, because the
 * link may be from a tab with another organization. An organization that requires a second factor hides only its own projects.
 */
async function requireProject(page: SignedInPage, name: string): Promise<OwnProject> {
  const { org: chosen, organizations } = page.session;
  let refusal = new ApiError("PROJECT_NOT_FOUND");
  for (const org of new Set([...(chosen ? [chosen] : []), ...organizations])) {
    try {
      const input = { params: { slug: org.slug }, query: { project: name } };
      const { data } = await page.call(listOrganizationProjects, input);
      const found = data.projects.find(({ id, slug }) =>
        isUuid(name) ? id === name.toLowerCase() : slug === name,
      );
      if (found) return { ...found, org };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
      refusal = error;
    }
  }
  throw refusal;
}

async function renderProject(page: SignedInPage, project: OwnProject): Promise<PageResult> {
  const { problems } = page;
  const { org } = project;
  const isPublisher = org.role !== "viewer";
  const params = { project: project.id };
  const estimated = isPublisher ? await attempt(() => page.call(estimateBundle, { params })) : null;
  const estimate = estimated?.ok ? estimated.value.data : null;
  const refused = estimated?.ok === false ? estimated.problems : null;
  const datasets = Object.values(EXPORT_DATASETS);
  return {
    title: `${project.name}: downloads`,
    section: "exports",
    org,
    status: problems?.status,
    head: html`<script type="module" src="/dashboard/assets/exports.js"></script>`,
    main: html`<p class="crumbs"><a href="${EXPORTS_PATH}">Exports of ${org.name}</a></p>
<h1>${project.name}</h1>
<div id="problem" class="problem" role="alert">${problems?.message}</div>
<div class="project-body stack">
  <div class="problem" data-part="problem" role="alert">${refused?.message}</div>
  ${isPublisher ? renderBundle(project, estimate) : BUNDLE_NOTE}
  <ul class="datasets">${datasets.map((dataset) => renderDataset(project, dataset, estimate))}</ul>
  <p class="filters-link"><a href="${projectPath(project.id)}#filters">Filters and time ranges</a></p>
</div>
<h2 id="filters">With filters</h2>
<ul class="rows">${datasets.map((dataset) => renderFilters(page, project, dataset))}</ul>`,
  };
}

const BUNDLE_NOTE = html`<p class="quiet" data-part="bundle-note">Bundles and size estimates require the publisher role or above.</p>`;

function renderBundle(project: Project, estimate: Estimate | null): Html {
  const size = estimate
    ? `: ${countOf(estimate.totalRows, "row")}, about ${formatBytes(estimate.estimatedBytes)} before compression. ZIP files are usually smaller.`
    : ".";
  const links = renderLinks(`/api/v1/export/projects/${project.id}/bundle`, `Bundle of ${project.name}`);
  return html`<div class="bundle">
    <p><b>Bundle</b> <span class="quiet">All eight datasets in one ZIP${size}</span></p>
    ${
      estimate?.syncAllowed === false
        ? html`<p data-part="too-large">Too large for an immediate download. <a href="${EXPORTS_PATH}#start">Start an organization export</a> instead.</p>`
        : html`<p class="links">${links}</p>`
    }
  </div>`;
}

function renderDataset(project: Project, { name }: ExportDataset, estimate: Estimate | null): Html {
  const title = titleOf(name);
  const links = renderLinks(`/api/v1/export/projects/${project.id}/${name}`, `${title} of ${project.name}`);
  const rows = estimate && countOf(estimate.rowCounts[name] ?? 0, "row");
  return html`<li class="dataset"><span class="dataset-name"><span>${title}</span> <span class="quiet">${rows}</span></span>
    <span class="links">${links}</span></li>`;
}

function renderLinks(path: string, title: string): Content {
  return Object.entries(FORMAT_NAMES).map(
    ([format, name]) =>
      html`<a class="button" href="${path}?format=${format}" download aria-label="${title} as ${format.toUpperCase()}">${name}</a> `,
  );
}

/** Returns the title of a dataset, such as `Issue notes` for `issue-notes`. */
function titleOf(dataset: string): string {
  return capitalized(dataset.replaceAll("-", " "));
}

/** Renders a form whose fields are the API's parameters. It keeps values that the API rejected. */
function renderFilters(page: SignedInPage, project: Project, dataset: ExportDataset): Html {
  const given = page.url.searchParams;
  const typed = given.get("dataset") === dataset.name ? given : new URLSearchParams();
  const id = (name: string) => `${dataset.name}-${name}`;
  const title = titleOf(dataset.name);
  const instants = [
    ["created_from", "Created from (UTC)"],
    ["created_to", "Created before (UTC)"],
    ["since", "Changed since (UTC)"],
  ] as const;
  return html`<li><details class="project"${typed.size > 0 && html` open`}><summary>${title}</summary>
  <form class="filters" method="get" action="${projectPath(project.id)}/file" aria-label="${title} with filters">
    <input type="hidden" name="dataset" value="${dataset.name}">
    ${dataset.filters.map((filter) => renderFilter(filter, id(filter.name), typed.getAll(filter.name)))}
    ${dataset.flags.map((flag) => renderFlag(flag, id(flag), typed.get(flag)))}
    ${instants.map(
      ([name, label]) => html`<div class="form-field"><label for="${id(name)}">${label}</label>
      <input id="${id(name)}" name="${name}" type="datetime-local" step="1" value="${typed.get(name)}"></div>`,
    )}
    <div class="form-field"><label for="${id("format")}">Format</label>
      <select id="${id("format")}" name="format">${renderOptions(Object.entries(FORMAT_NAMES), typed.get("format"))}</select></div>
    <button type="submit" class="primary" aria-label="Download ${title} with these filters">Download</button>
  </form></details></li>`;
}

function renderFilter({ name, values }: ExportFilter, id: string, typed: readonly string[]): Html {
  const label = name.replaceAll("_", " ");
  if (!values) {
    return html`<div class="form-field"><label for="${id}">${label}</label><input id="${id}" name="${name}" maxlength="500" value="${typed[0]}"></div>`;
  }
  const boxes = values.map((value) => choice("checkbox", name, [value, value], typed.includes(value)));
  return html`<fieldset><legend>${label}</legend>${boxes}</fieldset>`;
}

/** Renders a select field for a flag. A parameter that is missing from the address has its default. */
function renderFlag(flag: VisibilityFlag, id: string, typed: string | null): Html {
  const isIncluded = typed ? typed === "true" : FLAG_DEFAULTS[flag];
  const option = (value: boolean, label: string) =>
    html`<option value="${value === FLAG_DEFAULTS[flag] ? "" : String(value)}"${value === isIncluded && html` selected`}>${label}</option>`;
  return html`<div class="form-field"><label for="${id}">${FLAG_NAMES[flag]}</label>
      <select id="${id}" name="${flag}">${option(true, "Include")}${option(false, "Leave out")}</select></div>`;
}
