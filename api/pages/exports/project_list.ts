/** The organization's projects: a section of the exports page. Downloads are on the page of each project. */
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { projectPath } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import type { SignedInPage } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { tierNote } from "./requirements.ts";

export interface Project {
  id: string;
  name: string;
  slug: string;
}

/** Number of projects from which the filter is shown. */
const FILTER_FROM = 8;

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Returns the projects by name. */
export async function listProjects({ call }: SignedInPage, org: PageOrg): Promise<Project[]> {
  const { data } = await call(listOrganizationProjects, { params: { slug: org.slug } });
  return data.projects.toSorted((a, b) => byName.compare(a.name, b.name));
}

/** The section. A script puts the downloads of a project below its name when it is opened. */
export function renderProjects(org: PageOrg, projects: readonly Project[]): Html {
  const isPaying = org.subscriptionTier !== "free";
  return html`<section class="projects stack" aria-labelledby="projects-title">
  <h2 id="projects-title">Project downloads</h2>
  <p class="quiet">Immediate downloads. Excludes deleted issues, archived runs and superseded analyses.</p>
  ${!isPaying && html`<p id="projects-note" class="notice">${tierNote("Downloads require", org)}</p>`}
  ${isPaying && renderList(projects)}
</section>`;
}

function renderList(projects: readonly Project[]): Html {
  if (projects.length === 0)
    return html`<p id="projects-empty" class="empty">This organization has no projects.</p>`;
  const rows = projects.map(({ id, name, slug }) => {
    return html`<li data-name="${name} ${slug}"><details class="project">
    <summary><span class="project-name">${name}</span></summary>
    <div class="project-body stack"><p><a href="${projectPath(id)}" data-load aria-label="Show downloads of ${name}">Show downloads</a></p></div>
  </details></li>`;
  });
  return html`<div id="filter" class="filter" hidden${projects.length >= FILTER_FROM && html` data-wanted`}>
    <label for="filter-text">Filter projects</label>
    <input id="filter-text" type="search" autocomplete="off" spellcheck="false">
    <output id="filter-count" for="filter-text" class="quiet"></output>
  </div>
  <ul id="projects" class="rows">${rows}</ul>`;
}
