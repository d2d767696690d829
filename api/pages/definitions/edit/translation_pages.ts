/** …/retranslate and …/upgrade: render Markdown with the current translator. */
import { getTranslatorVersion, retranslateDefinition } from "../../../definitions/retranslate.ts";
import { upgradeDefinition } from "../../../definitions/upgrade.ts";
import { definitionPath } from "../../addresses.ts";
import type { ResponseOf } from "../../api_client.ts";
import { idempotencyKeyOf } from "../../forms.ts";
import { html } from "../../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../../page.ts";
import { loadDefinition, renderTranslationError } from "../definition_frame.ts";
import { apiParams, type VersionPageAddress } from "../page_address.ts";
import { actionPage, effectList } from "./action_page.ts";
import { renderProblems } from "./document_problems.ts";
import { documentProblems, EDITOR_HEAD, yamlField } from "./edit_form.ts";

export async function showRetranslate(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const [definition, current] = await Promise.all([
    loadDefinition(page, target),
    page.call(getTranslatorVersion),
  ]);
  const { name, version, status, translatorVersion } = definition;
  const title = `Render ${name} ${version} again`;
  if (status === "archived") {
    const effects = html`<p>${name} ${version} is archived, and archived versions stay as they are.</p>`;
    return actionPage(page, { title, target, effects });
  }
  const effects = effectList([
    `The Markdown was rendered by translator ${translatorVersion ?? "(none)"}. The current one is ${current.data.translatorVersion}.`,
    "If the text differs, it replaces the Markdown of this version, even if the version is published. The YAML does not change.",
    "If the current translator cannot render the document, the stored Markdown is kept.",
  ]);
  const fields = html`<label class="choice"><input type="checkbox" name="createNewVersion" value="true">
  <span>Keep this version as it is, and save the new text as a draft of the next patch version</span></label>`;
  return actionPage(page, { title, target, effects, fields, button: "Render again" });
}

/** Renders the Markdown again, in place or as a new draft. */
export async function submitRetranslate(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const body = { createNewVersion: page.form.get("createNewVersion") === "true" };
  const input = { params: apiParams(target), body, idempotencyKey: idempotencyKeyOf(page.form) };
  const { data, warnings } = await page.call(retranslateDefinition, input);
  const shown = { ...target, version: data.newVersion ?? target.version };
  return seeOtherWith(definitionPath(shown), noticeOf(data), warnings);
}

function noticeOf(result: ResponseOf<typeof retranslateDefinition>["data"]): string {
  if (result.translationError) return "untranslatable";
  if (result.newVersionCreated) return "saved";
  return result.changes ? "retranslated" : "unchanged";
}

/** Shows a form to correct a document that cannot be rendered. */
export async function showUpgrade(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const { form, problems } = page;
  const definition = await loadDefinition(page, target, { withTexts: true });
  const { name, version, runtimeMd, translationError } = definition;
  const title = `Upgrade ${name}`;
  if (runtimeMd !== null && !problems) {
    const effects = html`<p>${name} ${version} already has Markdown. Only definitions without Markdown can be upgraded.</p>
<p>To change the text, <a href="${definitionPath(target, "edit")}">edit the YAML</a>. To use the current translator, <a href="${definitionPath(target, "retranslate")}">render the Markdown again</a>.</p>`;
    return actionPage(page, { title, target, effects });
  }
  const reason = translationError && html` (${renderTranslationError(translationError)})`;
  const effects = effectList([
    html`Version ${version} has no Markdown, because its YAML cannot be rendered${reason}.`,
    "Saving adds the text below as a draft of the next major version. The version in the YAML is set for you.",
    "A document that cannot be rendered is rejected.",
  ]);
  const yaml = form.get("yaml") ?? definition.yaml;
  const found = problems ? documentProblems(problems) : [];
  const fields = html`${found.length > 0 && renderProblems(found, yaml)}
${yamlField({ problems }, yaml)}`;
  return actionPage(page, { title, target, effects, fields, button: "Save draft", head: EDITOR_HEAD });
}

/** Adds the corrected document as the next major version. */
export async function submitUpgrade(page: SignedInPage, target: VersionPageAddress): Promise<PageResult> {
  const body = { yaml: page.form.get("yaml") ?? "" };
  const input = { params: apiParams(target), body, idempotencyKey: idempotencyKeyOf(page.form) };
  const { data, warnings } = await page.call(upgradeDefinition, input);
  const made = { ...target, version: data.version };
  return seeOtherWith(definitionPath(made, "edit"), "saved", warnings);
}
