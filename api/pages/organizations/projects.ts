/** /orgs/{slug}/projects: the projects of an organization, for its members. */

import type { ProjectList } from "../../accounts/organizations/projects.ts";
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { EXPORTS_PATH } from "../addresses.ts";
import { type Html, html } from "../html.ts";
import { renderDay } from "../instant.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import { findOwnOrg } from "../page_session.ts";
import { orgPage } from "./org_page.ts";

type Projects = (typeof ProjectList.static)["data"];

export async function showProjects(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const { data } = await page.call(listOrganizationProjects, { params: { slug } });
  const name = findOwnOrg(page, slug)?.name ?? slug;
  return orgPage(page, { slug, name, tab: "projects", body: renderProjects(data) });
}

/** Renders the table of projects. */
function renderProjects({ projects, total }: Projects): Html {
  const rows = projects.map(
    (project) => html`<tr>
  <th scope="row">${project.name}</th><td><code>${project.slug}</code></td><td>${renderDay(project.createdAt)}</td>
</tr>
`,
  );
  return html`<section class="stack" aria-labelledby="projects-title">
  <h2 id="projects-title">Projects <small>${total.toLocaleString("en-US")}</small></h2>
  ${
    total === 0
      ? html`<p class="empty">This organization has no projects.</p>`
      : html`<p><a href="${EXPORTS_PATH}">Export projects</a></p>
  <div class="table-box" tabindex="0" role="group" aria-label="Projects"><table class="data-table">
<thead><tr><th scope="col">Name</th><th scope="col">Slug</th><th scope="col">Created</th></tr></thead>
<tbody>
${rows}</tbody></table></div>`
  }
</section>`;
}
