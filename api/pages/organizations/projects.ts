/** /orgs/{slug}/projects: the projects of an organization. Owners and admins create, rename, delete and restore them here. */
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole } from "../../../shared/policy.ts";
import {
  createProject,
  deleteProject,
  listDeletedProjects,
  listOrganizationProjects,
  restoreProject,
  updateProject,
} from "../../accounts/organizations/projects.ts";
import { EXPORTS_PATH, orgPath, withQuery } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { idempotencyKeyOf, inputField, onceField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { findOwnOrg, type PageSession } from "../page_session.ts";
import {
  emptyState,
  formatCount,
  pager,
  readOffset,
  recordTable,
  renderDay,
  renderInstant,
} from "../parts.ts";
import { orgPage, requireOrgWithRole } from "./org_page.ts";

const PAGE_SIZE = 200;

type Projects = ResponseOf<typeof listOrganizationProjects>["data"];

type DeletedProjects = ResponseOf<typeof listDeletedProjects>["data"];

/** The offsets of the two lists. */
interface Places {
  offset: number;
  deleted: number;
}

const NOTICES = {
  created: "Organization created. Create its first project.",
  added: "Project created.",
  deleted: "Project deleted. It can be restored for 30 days.",
  restored: "Project restored.",
};

/** Creates a project, or restores the project in the hidden field `restore`. */
export async function changeProjects(
  { form, call }: SignedInPage,
  { slug }: { slug: string },
): Promise<PageResult> {
  const restored = form.get("restore");
  if (restored === null) {
    const { slug: wanted, ...named } = readProject(form);
    const body = wanted === "" ? named : { ...named, slug: wanted };
    await call(createProject, { params: { slug }, body, idempotencyKey: idempotencyKeyOf(form) });
  } else await call(restoreProject, { params: { slug, project: restored } });
  return seeOtherWith(orgPath(slug, "projects"), restored === null ? "added" : "restored");
}

function readProject(form: URLSearchParams): { name: string; slug: string } {
  return { name: form.get("name") ?? "", slug: (form.get("slug") ?? "").trim() };
}

export async function showProjects(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const params = { slug };
  const at = { offset: readOffset(page.url), deleted: readOffset(page.url, "deleted") };
  const query = { limit: PAGE_SIZE, offset: at.offset };
  const { data } = await page.call(listOrganizationProjects, { params, query });
  const org = findOwnOrg(page, slug);
  const isAdmin = org !== null && hasOrgRole(org.role, "admin").ok;
  const deleted = isAdmin
    ? (await page.call(listDeletedProjects, { params, query: { limit: PAGE_SIZE, offset: at.deleted } })).data
    : null;
  return orgPage(page, {
    slug,
    tab: "projects",
    notices: NOTICES,
    body: html`${renderProjects(data, { slug, isAdmin, at })}
${isAdmin && renderForm(page)}
${deleted !== null && deleted.total > 0 && renderDeleted(page.session, deleted, { slug, at })}`,
  });
}

function pagePath(slug: string, { offset, deleted }: { [Name in keyof Places]: number | null }): string {
  return withQuery(orgPath(slug, "projects"), { offset: offset || null, deleted: deleted || null });
}

function renderProjects(
  { projects, total }: Projects,
  { slug, isAdmin, at }: { slug: string; isAdmin: boolean; at: Places },
): Html {
  const rows = projects.map((project): Content[] => [
    isAdmin ? html`<a href="${orgPath(slug, "projects", project.id)}">${project.name}</a>` : project.name,
    html`<code>${project.slug}</code>`,
    renderDay(project.createdAt),
  ]);
  const list = { offset: at.offset, limit: PAGE_SIZE, total, shown: rows.length };
  const content =
    total === 0
      ? emptyState(`This organization has no projects.${isAdmin ? "" : " An owner or admin can create one."}`)
      : html`<p><a href="${EXPORTS_PATH}">Export projects</a></p>
  ${recordTable("Projects", ["Name", "Slug", "Created"], rows)}
  ${pager(list, (to) => pagePath(slug, { ...at, offset: to }))}`;
  return html`<section class="stack" aria-labelledby="projects-title">
  <h2 id="projects-title">Projects <small>${formatCount(total)}</small></h2>
  ${content}
</section>`;
}

function renderForm(page: SignedInPage): Html {
  const slugHint = "Used in URLs. Leave it empty to derive it from the name.";
  return html`<section class="card form-card" aria-labelledby="new-title">
  <h2 id="new-title">New project</h2>
  <form method="post">${tokenField(page.session)}${onceField()}
  ${projectFields(page, { name: "", slug: "", slugHint })}
  <div class="actions"><button type="submit" class="primary">Create project</button></div>
  </form>
</section>`;
}

/** Renders the fields for a project's names, with the given values or the user's input. */
function projectFields(
  { form, problems }: SignedInPage,
  { name, slug, slugHint }: { name: string; slug: string; slugHint: string },
): Content {
  return [
    inputField(
      { name: "name", label: "Name", problems },
      html`type="text" maxlength="200" required value="${form.get("name") ?? name}"`,
    ),
    inputField(
      { name: "slug", label: "Slug", hint: slugHint, problems },
      html`type="text" maxlength="60" autocapitalize="none" spellcheck="false" value="${form.get("slug") ?? slug}"`,
    ),
  ];
}

function renderDeleted(
  session: PageSession,
  { projects, total }: DeletedProjects,
  { slug: orgSlug, at }: { slug: string; at: Places },
): Html {
  const rows = projects.map(({ id, name, slug, restorableUntil }): Content[] => [
    html`${name}<div class="actions">
    <form method="post">${tokenField(session)}<input type="hidden" name="restore" value="${id}"><button type="submit">Restore<span class="visually-hidden"> ${name}</span></button></form>
  </div>`,
    html`<code>${slug}</code>`,
    restorableUntil !== null && renderInstant(restorableUntil),
  ]);
  const list = { offset: at.deleted, limit: PAGE_SIZE, total, shown: rows.length };
  return html`<section class="stack" aria-labelledby="deleted-title">
  <h2 id="deleted-title">Deleted projects <small>${formatCount(total)}</small></h2>
  ${recordTable("Deleted projects", ["Name", "Slug", "Restorable until"], rows)}
  ${pager(list, (to) => pagePath(orgSlug, { ...at, deleted: to }), "Pages of deleted projects")}
</section>`;
}

interface ProjectAddress {
  slug: string;
  /** The project's id. */
  project: string;
}

/** Performs the action in the hidden field `action`. */
export async function changeProject(page: SignedInPage, address: ProjectAddress): Promise<PageResult> {
  const { form, call } = page;
  if (form.get("action") === "delete") {
    await call(deleteProject, { params: address });
    return seeOtherWith(orgPath(address.slug, "projects"), "deleted");
  }
  await call(updateProject, { params: address, body: readProject(form) });
  return seeOtherWith(orgPath(address.slug, "projects", address.project), "saved");
}

export async function showProject(
  page: SignedInPage,
  { slug, project: id }: ProjectAddress,
): Promise<PageResult> {
  await requireOrgWithRole(page, { slug, role: "admin" });
  const { data } = await page.call(listOrganizationProjects, { params: { slug }, query: { project: id } });
  const project = data.projects.find((listed) => listed.id === id);
  if (!project) throw new ApiError("PROJECT_NOT_FOUND");
  const token = tokenField(page.session);
  const slugHint = "Exports no longer find the project by its old slug or name.";
  return orgPage(page, {
    slug,
    tab: "projects",
    subject: project.name,
    notices: { saved: "Project saved." },
    body: html`<p class="crumbs"><a href="${orgPath(slug, "projects")}">Projects</a></p>
<section class="card form-card" aria-labelledby="rename-title">
  <h2 id="rename-title">${project.name}</h2>
  <form method="post">${token}<input type="hidden" name="action" value="save">
  ${projectFields(page, { ...project, slugHint })}
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
