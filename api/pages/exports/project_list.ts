/** The organization's projects: a section of the exports page. Downloads are on the page of each project. */
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { EXPORTS_PATH, projectPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Html, html } from "../html.ts";
import type { SignedInPage } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { countOf, emptyState } from "../parts.ts";
import { tierNote } from "./requirements.ts";

export type Project = ResponseOf<typeof listOrganizationProjects>["data"]["projects"][number];

/** The minimum number of projects for which the filter is shown. */
const FILTER_FROM = 8;
/** The maximum number of listed projects. The filter finds the others. */
const SHOWN = 200;

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Returns the projects, which are not yet sorted for display. */
export async function listProjects({ call }: SignedInPage, { slug }: PageOrg): Promise<readonly Project[]> {
  return (await call(listOrganizationProjects, { params: { slug } })).data.projects;
}

/**
 * Renders the section. `wanted` is part of a name or slug. A script loads a project's downloads when the project is opened. If
 * all projects are listed, the script also filters them as the user types.
 */
export function renderProjects(org: PageOrg, projects: readonly Project[], wanted: string): Html {
  const isPaying = org.subscriptionTier !== "free";
  return html`<section class="projects stack" aria-labelledby="projects-title">
  <h2 id="projects-title" tabindex="-1">Project downloads</h2>
  <p class="quiet">Immediate downloads. Excludes deleted issues, archived runs and superseded analyses.</p>
  ${!isPaying && html`<p class="notice">${tierNote("Downloads require", org)}</p>`}
  ${isPaying && renderList(projects, wanted.trim())}
</section>`;
}

function renderList(projects: readonly Project[], wanted: string): Html {
  if (projects.length === 0) return emptyState("This organization has no projects.");
  const matching = projects.filter(({ name, slug }) =>
    `${name} ${slug}`.toLocaleLowerCase().includes(wanted.toLocaleLowerCase()),
  );
  const shown = matching.toSorted((a, b) => byName.compare(a.name, b.name)).slice(0, SHOWN);
  const rows = shown.map(
    ({ id, name, slug }) => html`<li data-name="${name} ${slug}"><details class="project">
    <summary><span class="project-name">${name}</span></summary>
    <div class="project-body stack"><p><a href="${projectPath(id)}" data-load aria-label="Show downloads of ${name}">Show downloads</a></p></div>
  </details></li>`,
  );
  const isPart = shown.length < projects.length;
  return html`${projects.length >= FILTER_FROM && renderFilter(wanted, isPart && countOfPart(shown.length, matching.length, projects.length))}
  <ul id="projects" class="rows"${isPart && html` data-part`}>${rows}</ul>`;
}

/** Renders the filter as a form, which works without scripts and finds projects that are not listed. */
function renderFilter(wanted: string, count: string | false): Html {
  return html`<form id="filter" class="filter" action="${EXPORTS_PATH}#projects-title">
    <label for="filter-text">Filter projects</label>
    <span class="filter-line"><input id="filter-text" name="projects" type="search" value="${wanted}" autocomplete="off" spellcheck="false">
    <button type="submit">Filter</button></span>
    <output id="filter-count" for="filter-text" class="quiet">${count}</output>
  </form>`;
}

/** Returns a text such as `The first 200 of 310 matching projects`. */
function countOfPart(shown: number, matching: number, total: number): string {
  const all = matching === total ? countOf(total, "project") : countOf(matching, "matching project");
  return shown < matching ? `The first ${shown} of ${all}` : all;
}
