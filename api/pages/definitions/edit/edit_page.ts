/** …/edit: edits a draft, or the next version of a published definition. */
import { allowedTransitions, allowsOperation } from "../../../../shared/definitions/lifecycle.ts";
import type { Definition } from "../../../../sql/definitions/fields.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { listVersions } from "../../../definitions/versions.ts";
import { definitionPath } from "../../addresses.ts";
import { type Content, html } from "../../html.ts";
import { renderNotice } from "../../notice.ts";
import { type PageResult, type SignedInPage, seeOther } from "../../page.ts";
import { loadDefinition } from "../definition_frame.ts";
import { apiParams, type PageAddress, type VersionPageAddress } from "../page_address.ts";
import { NOTICES, renderBreadcrumb } from "./action_page.ts";
import {
  checkDocument,
  createNextDraft,
  loadSummary,
  readEditFields,
  saveDraft,
  seeSaved,
} from "./edit_actions.ts";
import { type EditFields, editPage, NO_EDIT } from "./edit_form.ts";
import { withVersion } from "./templates.ts";

/** Shows the form. If the address has no version, redirects to the highest version. */
export async function showEdit(page: SignedInPage, address: PageAddress): Promise<PageResult> {
  const { version, ...line } = address;
  if (version === null) {
    const [highest] = (await page.call(listVersions, { params: apiParams(address), query: { limit: 1 } }))
      .data.versions;
    return seeOther(definitionPath({ ...line, version: highest?.version ?? null }, "edit") + page.url.search);
  }
  const target = { ...line, version };
  const definition = await loadDefinition(page, target, { withTexts: true });
  const fields = page.problems ? typedFields(page, definition) : await startFields(page, target, definition);
  return renderEdit(page, { target, definition, fields });
}

/** Checks the document, saves this draft, or adds a version. A save may redirect to the publish page. */
export async function submitEdit(page: SignedInPage, address: PageAddress): Promise<PageResult> {
  const definition = await loadDefinition(page, address, { withTexts: true });
  const target = { ...address, version: definition.version };
  if (page.form.get("action") === "check") {
    const fields = typedFields(page, definition);
    const { organization, name } = address;
    const own = editedVersion(target, fields);
    const report = await checkDocument(page, { organization, name, fields, own });
    return renderEdit(page, { target, definition, fields, report });
  }
  const fields = { ...readEditFields(page), type: address.type };
  const write = editedVersion(target, fields) === null ? createNextDraft : saveDraft;
  return seeSaved(page, await write(page, { target, base: definition, fields }));
}

/** Returns the user's input. If the draft has been published in the meantime, saving adds a version instead. */
function typedFields(page: SignedInPage, { type, status }: Definition): EditFields {
  const sent = { ...readEditFields(page), type };
  return status === "draft" ? sent : { ...sent, expectedUpdatedAt: "" };
}

/** Returns the version of the draft that saving changes; null if saving adds a version. */
function editedVersion({ version }: VersionPageAddress, { expectedUpdatedAt }: EditFields): string | null {
  return expectedUpdatedAt === "" ? null : version;
}

async function startFields(
  page: SignedInPage,
  target: VersionPageAddress,
  definition: Definition,
): Promise<EditFields> {
  const { type, name, yaml, visibility, status, updatedAt, version } = definition;
  const same = { ...NO_EDIT, type, visibility };
  if (status === "draft") {
    const changeSummary = await loadSummary(page, target);
    return { ...same, yaml, changeSummary, savedSummary: changeSummary, expectedUpdatedAt: updatedAt };
  }
  const { organization } = target;
  const report = await checkDocument(page, { organization, name, fields: definition, own: null });
  const next = report.version.nextAvailable ?? version;
  return { ...same, yaml: withVersion(yaml, version, next) };
}

interface EditPage {
  target: VersionPageAddress;
  /** The stored definition. */
  definition: Definition;
  fields: EditFields;
  report?: Report;
}

function renderEdit(page: SignedInPage, options: EditPage): PageResult {
  const { target, definition, fields, report = null } = options;
  const own = editedVersion(target, fields);
  const isConflict = page.problems?.code === "EDIT_CONFLICT";
  return editPage(page, {
    title: own === null ? `New version of ${definition.name}` : `Edit ${definition.name} ${own}`,
    before: html`${renderBreadcrumb(target)}${renderNotice(page.notice, NOTICES)}`,
    lead: own === null ? leadOfNext(definition) : leadOfDraft(definition),
    // The page shows the stored text, so the next save may replace it.
    fields: isConflict ? { ...fields, expectedUpdatedAt: definition.updatedAt } : fields,
    choosesType: false,
    own,
    report,
    stored: isConflict ? definition : null,
    after: renderAfter(target, definition),
  });
}

function leadOfDraft({ namespace, version }: Definition): Content {
  return html`Saving changes the draft ${version} of ${namespace}. Only members can see it until it is published.`;
}

function leadOfNext({ namespace, version, status }: Definition): Content {
  return html`Version ${version} of ${namespace} is ${status} and cannot change. Saving adds a draft with the version in the
  YAML. The form starts with the next free patch version; choose a minor or major one if the changes need it.`;
}

/** Renders links to a publisher's other actions on a version. Each link opens a page that explains the action. */
function renderAfter(target: VersionPageAddress, { status, runtimeMd }: Definition): Content {
  const moves = allowedTransitions(status);
  const actions = [
    ["deprecate", "Deprecate…", moves.includes("deprecated")],
    ["archive", "Archive…", moves.includes("archived")],
    ["retranslate", "Render Markdown again…", allowsOperation(status, "retranslate")],
    ["upgrade", "Upgrade…", runtimeMd === null],
    ["delete", "Delete…", allowsOperation(status, "delete")],
  ] as const;
  const possible = actions.filter(([, , isPossible]) => isPossible);
  if (possible.length === 0) return null;
  const links = possible.map(
    ([path, label]) => html`<a class="button" href="${definitionPath(target, path)}">${label}</a>
`,
  );
  return html`<section aria-labelledby="manage-title"><h2 id="manage-title">Version ${target.version}</h2>
<p class="actions">${links}</p></section>`;
}
