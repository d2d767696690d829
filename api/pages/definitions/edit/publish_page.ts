/** …/publish: explains what publishing a draft will do, and publishes it. */
import type { Definition } from "../../../../sql/definitions/fields.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { publishDefinition } from "../../../definitions/publish.ts";
import { diffVersions } from "../../../definitions/versions.ts";
import { definitionPath } from "../../addresses.ts";
import { nullIf } from "../../api_client.ts";
import { idempotencyKeyOf, UNSAVED_SCRIPT } from "../../forms.ts";
import { type Content, html } from "../../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../../page.ts";
import { countOf } from "../../parts.ts";
import { loadDefinition } from "../definition_frame.ts";
import { renderDiff } from "../diff_view.ts";
import { apiParams, type VersionPageAddress } from "../page_address.ts";
import { actionPage, effectList, notPossible } from "./action_page.ts";
import { renderFindings } from "./check_report.ts";
import { renderProblems } from "./document_problems.ts";
import { checkDocument } from "./edit_actions.ts";

export async function showPublish(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const definition = await loadDefinition(page, target, { withTexts: true });
  const { name, version, status, updatedAt } = definition;
  const title = `Publish ${name} ${version}`;
  if (status !== "draft") {
    const effects = notPossible(definition, "Only drafts can be published.");
    return actionPage(page, { title, target, effects });
  }
  const { organization } = target;
  const report = await checkDocument(page, { organization, name, fields: definition, own: version });
  const patch = await loadPatch(page, target, report);
  return actionPage(page, {
    title,
    target,
    effects: renderEffects(definition, { report, patch }),
    fields: html`<input type="hidden" name="expectedUpdatedAt" value="${updatedAt}">`,
    button: report.valid ? `Publish ${version}` : null,
    head: UNSAVED_SCRIPT,
  });
}

/** Publishes the draft. If it has changed since it was shown, shows it again. */
export async function submitPublish(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const body = { expectedUpdatedAt: page.form.get("expectedUpdatedAt") ?? "" };
  const idempotencyKey = idempotencyKeyOf(page.form);
  await page.call(publishDefinition, { params: apiParams(target), body, idempotencyKey });
  return seeOtherWith(definitionPath(target), "published");
}

const READERS: Readonly<Record<Definition["visibility"], string>> = {
  private: "Only members of the organization can see it: its visibility is private.",
  unlisted: "Everyone who knows its name can see it: its visibility is unlisted.",
  public: "Everyone can see it, and lists and search show it: its visibility is public.",
};

/** Returns the changes since an earlier version; null without such a version or without a paid plan. */
async function loadPatch(
  page: SignedInPage,
  target: VersionPageAddress,
  { diff }: Report,
): Promise<string | null> {
  if (!diff) return null;
  const query = { from: diff.against, to: target.version, format: "unified" };
  const params = apiParams({ ...target, version: null });
  const patch = await nullIf(["SUBSCRIPTION_REQUIRED"], page.call(diffVersions, { params, query }));
  return patch?.unified ?? null;
}

function renderPatch(patch: string | null, { diff }: Report): Content {
  if (!diff || !patch) return null;
  const { markup, hidden } = renderDiff(patch);
  return html`<details open><summary>Changes of the YAML since ${diff.against}</summary>
<pre class="source diff" tabindex="0" role="group" aria-label="Changes of the YAML"><code>${markup}</code></pre>
${hidden > 0 && html`<p class="quiet">${countOf(hidden, "more line")}</p>`}</details>`;
}

function renderEffects(
  definition: Definition,
  { report, patch }: { report: Report; patch: string | null },
): Content {
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
${renderPatch(patch, report)}
<h2 class="visually-hidden">Result of the check</h2>
${renderFindings(report, { yaml, own: version, opensChanges: true })}`;
}

function renderQuarantine({ quarantinedAt, quarantineReason }: Definition): Content {
  if (quarantinedAt === null) return null;
  return html`<p class="problem">An operator has quarantined this version. After publishing, it stays visible to members only and no
  reference resolves to it.${quarantineReason !== null && html` Reason: ${quarantineReason}`}</p>`;
}
