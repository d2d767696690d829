/** The API calls of the edit form. */
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../shared/errors.ts";
import { DEFINITION_TYPES } from "../../../../shared/vocabulary.ts";
import type { Definition } from "../../../../sql/definitions/fields.ts";
import { createDefinitions, validateDefinition } from "../../../definitions/batch/batch.ts";
import type { Report } from "../../../definitions/batch/schemas.ts";
import { createDefinition } from "../../../definitions/create.ts";
import { readerWork, readWritten } from "../../../definitions/document.ts";
import { updateDefinition } from "../../../definitions/update.ts";
import { listVersions } from "../../../definitions/versions.ts";
import { definitionPath } from "../../addresses.ts";
import { nullIf } from "../../api_client.ts";
import { idempotencyKeyOf } from "../../forms.ts";
import { type SignedInPage, seeOtherWith } from "../../page.ts";
import { loadDefinition } from "../definition_frame.ts";
import { apiParams, type VersionPageAddress } from "../page_address.ts";
import { withoutOwnDraft } from "./check_report.ts";
import type { EditFields } from "./edit_form.ts";

export function readEditFields({ form }: Pick<SignedInPage, "form">): EditFields {
  const text = (name: string) => form.get(name) ?? "";
  const type = DEFINITION_TYPES.find((word) => word === text("type")) ?? "agent";
  return {
    type,
    yaml: text("yaml"),
    visibility: text("visibility") || "private",
    changeSummary: text("changeSummary"),
    savedSummary: text("savedSummary"),
    expectedUpdatedAt: text("expectedUpdatedAt"),
  };
}

/** Redirects after a save, either to the form or to the page that publishes the draft. */
export function seeSaved({ form }: Pick<SignedInPage, "form">, saved: VersionPageAddress): Response {
  const next = form.get("action") === "publish" ? "publish" : "edit";
  return seeOtherWith(definitionPath(saved, next), "saved");
}

interface CheckRequest {
  organization: string;
  /** The required name. Null accepts any name. */
  name: string | null;
  fields: Pick<EditFields, "type" | "yaml" | "visibility">;
  /** The version of the edited draft; null for a new draft. */
  own: string | null;
}

/** Checks a document as if it were created and published. Returns the API's report. */
export async function checkDocument(page: SignedInPage, options: CheckRequest): Promise<Report> {
  const { organization, name, fields, own } = options;
  const { type, yaml, visibility } = fields;
  const { data } = await page.call(validateDefinition, {
    org: organization,
    body: { type, yaml, visibility, publish: true, ...(name === null ? {} : { name }) },
  });
  return withoutOwnDraft(data, own);
}

/** Creates a draft under the name in its document. Returns the draft's address. */
export async function createNewDraft(
  page: SignedInPage,
  { organization, fields }: { organization: string; fields: EditFields },
): Promise<VersionPageAddress> {
  const { type, yaml, visibility } = fields;
  const { data } = await page.call(createDefinitions, {
    org: organization,
    body: { definitions: [{ yaml, visibility }] },
    idempotencyKey: idempotencyKeyOf(page.form),
  });
  const [stored] = data.definitions;
  // A batch that only checks returns entries without an id.
  if (!stored || !("id" in stored)) throw new Error(`Cannot find the ${type} that a batch has stored`);
  return { type: stored.type, organization, name: stored.name, version: stored.version };
}

interface Save {
  target: VersionPageAddress;
  /** The stored version that the form started from. */
  base: Definition;
  fields: EditFields;
}

/** Adds a version to a definition. Copies data outside the document from the base version. Returns the new version's address. */
export async function createNextDraft(
  page: SignedInPage,
  { target, base, fields }: Save,
): Promise<VersionPageAddress> {
  const { yaml, visibility } = fields;
  const { provenance } = base;
  const columns = await columnsOf(page, base, yaml);
  const params = apiParams({ ...target, version: null });
  const body = { yaml, visibility, provenance };
  const idempotencyKey = idempotencyKeyOf(page.form);
  const { data } = await page.call(createDefinition, { params, body, idempotencyKey });
  const made = { ...target, version: data.version };
  const { subdomain, tags, updatedAt: expectedUpdatedAt } = data;
  if (columns && !isDeepStrictEqual(columns, { subdomain: subdomain ?? "", tags })) {
    const input = { params: apiParams(made), body: { ...columns, expectedUpdatedAt } };
    // If the form was sent twice, the other request has set these columns. Someone may have changed them since.
    await nullIf(["EDIT_CONFLICT"], page.call(updateDefinition, input));
  }
  return made;
}

/** Replaces the document of a draft, unless it has changed since the form was loaded. */
export async function saveDraft(
  page: SignedInPage,
  { target, base, fields }: Save,
): Promise<VersionPageAddress> {
  const { yaml, visibility, changeSummary, savedSummary, expectedUpdatedAt } = fields;
  // An unchanged summary is omitted, so the stored summary is kept.
  const summary = changeSummary === savedSummary ? {} : { changeSummary };
  const body = { yaml, visibility, expectedUpdatedAt, ...summary, ...(await columnsOf(page, base, yaml)) };
  try {
    await page.call(updateDefinition, { params: apiParams(target), body });
  } catch (error) {
    // If the form was sent twice, the other request has changed the draft and saved the same values.
    const isConflict = error instanceof ApiError && error.code === "EDIT_CONFLICT";
    if (!isConflict || !(await isSaved(page, target, { yaml, visibility, ...summary }))) throw error;
  }
  return target;
}

/** Returns whether a draft has these values. */
async function isSaved(
  page: SignedInPage,
  target: VersionPageAddress,
  sent: { yaml: string; visibility: string; changeSummary?: string },
): Promise<boolean> {
  const { yaml, visibility } = await loadDefinition(page, target, { withTexts: true });
  if (yaml !== sent.yaml || visibility !== sent.visibility) return false;
  return sent.changeSummary === undefined || sent.changeSummary === (await loadSummary(page, target));
}

/** Returns a version's change summary, or an empty string. */
export async function loadSummary(page: SignedInPage, target: VersionPageAddress): Promise<string> {
  const params = apiParams({ ...target, version: null });
  for (let offset = 0; ; offset += 100) {
    const { versions } = (await page.call(listVersions, { params, query: { limit: 100, offset } })).data;
    const found = versions.find(({ version }) => version === target.version);
    if (found || versions.length === 0) return found?.changeSummary ?? "";
  }
}

/**
 * Returns the subdomain and tags to save for a workflow; null for other types. The API stores them outside the document and
 * changes them only if a PUT includes them. A value stays the same unless the edited document changes it.
 */
async function columnsOf({ deps, request }: SignedInPage, base: Definition, yaml: string) {
  if (base.type !== "workflow") return null;
  const work = readerWork(deps.documents, request);
  const [before, after] = await Promise.all([
    readWritten(work, base.yaml, { ...base, isStored: true }),
    readWritten(work, yaml, base),
  ]);
  if (!before.ok || !after.ok) return null;
  const [old, said] = [before.document.content, after.document.content];
  return {
    subdomain: (said.subdomain === old.subdomain ? base : said).subdomain ?? "",
    tags: isDeepStrictEqual(said.tags, old.tags) ? base.tags : said.tags,
  };
}
