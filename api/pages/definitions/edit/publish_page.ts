/** …/publish: what publishing a draft will do, and publishing it. */
import type { Definition } from "../../../../sql/definitions/fields.ts";
import type { Report } from "../../../definitions/batch/submit.ts";
import { type FormProblems, findProblems } from "../../forms.ts";
import { type Content, html } from "../../html.ts";
import { type PageResult, type SignedInPage, seeOther } from "../../page.ts";
import { actionPage, effectList, notPossible } from "./action_page.ts";
import { countOf, renderFindings } from "./check_report.ts";
import { renderProblems } from "./document_problems.ts";
import { checkDocument } from "./edit_actions.ts";
import {
  type DefinitionPageParams,
  loadDefinition,
  parseVersionTarget,
  pathOf,
  requirePublisher,
  type VersionTarget,
} from "./manage_target.ts";

/** Shows what publishing will do. */
export async function showPublish(page: SignedInPage, params: DefinitionPageParams): Promise<PageResult> {
  const target = parseVersionTarget(params);
  requirePublisher(page, target.orgSlug);
  return renderPublish(page, target, null);
}

/** Publishes the draft as it was shown; shows it again if it has changed since. */
export async function submitPublish(page: SignedInPage, params: DefinitionPageParams): Promise<PageResult> {
  const target = parseVersionTarget(params);
  requirePublisher(page, target.orgSlug);
  const expectedUpdatedAt = page.form.get("expectedUpdatedAt") ?? "";
  const problems = await findProblems(() =>
    page.api(`/definitions${pathOf(target)}/publish`, { method: "POST", body: { expectedUpdatedAt } }),
  );
  if (!problems) return seeOther(`/definitions${pathOf(target)}?org=${target.orgSlug}&notice=published`);
  return renderPublish(page, target, problems);
}

async function renderPublish(
  page: SignedInPage,
  target: VersionTarget,
  problems: FormProblems | null,
): Promise<PageResult> {
  const definition = await loadDefinition(page, target);
  const { name, version, status, updatedAt } = definition;
  const form = { title: `Publish ${name} ${version}`, target, session: page.session, problems };
  if (status !== "draft") {
    return actionPage({ ...form, effects: notPossible(definition, "drafts"), button: null });
  }
  const { orgSlug } = target;
  const report = await checkDocument(page, { orgSlug, name, fields: definition, own: version });
  return actionPage({
    ...form,
    effects: renderEffects(definition, report),
    fields: html`<input type="hidden" name="expectedUpdatedAt" value="${updatedAt}">`,
    button: report.valid ? `Publish ${version}` : null,
  });
}

const READERS: Readonly<Record<Definition["visibility"], string>> = {
  private: "Only members of the organization can see it: its visibility is private.",
  unlisted: "Everyone who knows its name can see it: its visibility is unlisted.",
  public: "Everyone can see it, and lists and search show it: its visibility is public.",
};

function renderEffects(definition: Definition, report: Report): Content {
  const { yaml, version, visibility } = definition;
  if (!report.valid) {
    return html`<p>This draft cannot be published. ${countOf(report.errors.length, "error")}:</p>
${renderProblems(report.errors, yaml)}`;
  }
  return html`${effectList([
    "The version can no longer change or be deleted. You can deprecate it later.",
    READERS[visibility],
    html`References whose range accepts ${version} resolve to it, if it is the highest version in range.`,
    "Each of its own references is bound to the organization that it resolves to now.",
  ])}
${renderQuarantine(definition)}
${renderFindings(report, { yaml, own: version })}`;
}

function renderQuarantine({ quarantinedAt, quarantineReason }: Definition): Content {
  if (quarantinedAt === null) return null;
  return html`<p class="problem">An operator has quarantined this version. After publishing, it stays visible to members only and no
  reference resolves to it.${quarantineReason !== null && html` Reason: ${quarantineReason}`}</p>`;
}
