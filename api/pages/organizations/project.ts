/** /orgs/{slug}/projects/{project}: an owner or admin renames or deletes a project. */
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole } from "../../../shared/policy.ts";
import { deleteProject, updateProject } from "../../accounts/organizations/manage_projects.ts";
import { getOrganization } from "../../accounts/organizations/own_orgs.ts";
import { listOrganizationProjects } from "../../accounts/organizations/projects.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { orgPath } from "../addresses.ts";
import { type FormProblems, findProblems, problemSummary, tokenField } from "../forms.ts";
import { html } from "../html.ts";
import { renderNotice } from "../notice.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { orgPage } from "./org_page.ts";
import { projectFields } from "./projects.ts";

interface ProjectAddress {
  slug: string;
  /** Its id. */
  project: string;
}

export async function showProject(page: SignedInPage, address: ProjectAddress): Promise<PageResult> {
  return renderPage(page, address, { typed: null, problems: null });
}

/** Does what the hidden field `action` says. */
export async function changeProject(page: SignedInPage, address: ProjectAddress): Promise<PageResult> {
  const { form, call } = page;
  const params = { ...address };
  if (form.get("action") === "delete") {
    await call(deleteProject, { params });
    return seeOtherWith(orgPath(address.slug, "projects"), "deleted");
  }
  const typed = { name: form.get("name") ?? "", slug: (form.get("slug") ?? "").trim() };
  const problems = await findProblems(() => call(updateProject, { params, body: typed }));
  if (!problems) return seeOtherWith(orgPath(address.slug, "projects", address.project), "saved");
  return renderPage(page, address, { typed, problems });
}

async function renderPage(
  page: SignedInPage,
  { slug, project: id }: ProjectAddress,
  { typed, problems }: { typed: { name: string; slug: string } | null; problems: FormProblems | null },
): Promise<PageResult> {
  const { data: org } = await page.call(getOrganization, { params: { slug } });
  requireAllowed(hasOrgRole(org.role, "admin"));
  const { data } = await page.call(listOrganizationProjects, { params: { slug } });
  const project = data.projects.find((listed) => listed.id === id);
  if (!project) throw new ApiError("PROJECT_NOT_FOUND");
  const token = tokenField(page.session);
  return orgPage(page, {
    slug,
    name: org.name,
    tab: "projects",
    subject: project.name,
    status: problems?.status,
    body: html`${renderNotice(page.notice, { saved: "Project saved." })}${problemSummary(problems)}
<p class="crumbs"><a href="${orgPath(slug, "projects")}">Projects</a></p>
<section class="card form-card" aria-labelledby="rename-title">
  <h2 id="rename-title">${project.name}</h2>
  <form method="post">${token}<input type="hidden" name="action" value="save">
  ${projectFields(typed ?? project, { problems, slugHint: "Exports no longer find the project by its old slug or name." })}
  <div class="actions"><button type="submit" class="primary">Save project</button></div>
  </form>
</section>
<section class="card form-card" aria-labelledby="delete-title">
  <h2 id="delete-title">Delete project</h2>
  <p>Exports no longer include it. Its data is kept, and you can restore it for 30 days.</p>
  <form method="post">${token}<input type="hidden" name="action" value="delete">
  <div class="actions"><button type="submit" class="danger">Delete project</button></div>
  </form>
</section>`,
  });
}
