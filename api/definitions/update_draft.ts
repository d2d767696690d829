/** What PUT changes of a draft: its document, fields of it, or settings beside it. */
import { type DefinitionChanges, editDefinition } from "../../shared/definition_edit.ts";
import { allowsOperation } from "../../shared/definition_lifecycle.ts";
import { listReferences } from "../../shared/definition_ref.ts";
import { ApiError } from "../../shared/errors.ts";
import { maySetDefinitionTier } from "../../shared/policy.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import { updateDraft } from "../../sql/definition_changes.ts";
import { replaceDefinitionReferences } from "../../sql/definition_references.ts";
import type { DefinitionContent, DefinitionRow } from "../../sql/definitions.ts";
import type { Pool, Sql } from "../../sql/pool.ts";
import { requireAllowed } from "../require_allowed.ts";
import { refuseInput } from "../validation_problems.ts";
import type { VersionAddress } from "./address.ts";
import { contentOf, readDocument } from "./document.ts";
import type { UpdateDefinition } from "./edit_bodies.ts";
import { auditOf, naturalTier, requireRow, type Writer } from "./new_draft.ts";
import { readProvenance } from "./provenance.ts";
import { refuseUnstorable } from "./storable_text.ts";
import { changeVersion } from "./writing.ts";

/** The fields of a body that stand in the document too. */
const DOCUMENT_FIELDS = ["displayName", "description", "domain", "subdomain", "agentType", "tags"] as const;

/** What a workflow's document has no place for (definition languages, section 2). */
const WORKFLOW_COLUMNS: readonly string[] = ["subdomain", "tags"];

export async function updateDefinition(
  sql: Pool,
  given: { writer: Writer; address: VersionAddress; body: UpdateDefinition },
): Promise<DefinitionRow> {
  const { writer, address, body } = given;
  const { displayName, description, subdomain, tags, changeSummary } = body;
  return changeVersion(sql, { writer, address }, async (tx, row) => {
    if (!allowsOperation(row.status, "update")) throw notEditable(row);
    refuseUnstorable({ displayName, description, subdomain, tags, changeSummary });
    refuseTier(writer, body.tier);
    const changed = await updateDraft(tx, {
      id: row.id,
      ...(await changeContent(tx, row, body)),
      visibility: body.visibility ?? row.visibility,
      tier: body.tier ?? row.tier,
      provenance: body.provenance === undefined ? row.provenance : readProvenance(body.provenance),
      changeSummary: changeSummary ?? row.changeSummary,
      changeType: body.changeType ?? row.changeType,
    });
    if (!changed) throw new Error(`Cannot update definition ${row.id}, which is locked and a draft`);
    await insertAuditEntry(tx, auditOf(writer, row, "definition.update"));
    return requireRow(tx, row.id);
  });
}

/** The refusal of an edit of what is no draft any more. */
function notEditable(row: DefinitionRow): ApiError {
  return new ApiError("NOT_EDITABLE", {
    message: `Cannot edit ${row.type} "${row.name}@${row.version}" in '${row.status}' status: only drafts can be edited`,
    details: { status: row.status },
  });
}

/** `user` and `org` say what kind of organization it is; `pro` is given by platform administrators. */
function refuseTier({ caller, org }: Writer, tier: UpdateDefinition["tier"]): void {
  if (tier === undefined) return;
  requireAllowed(maySetDefinitionTier({ tier, platformRole: caller.platformRole }));
  const natural = naturalTier(org);
  if (tier === "pro" || tier === natural) return;
  throw refuseInput([{ path: "tier", message: `must be ${natural} in this organization, or pro` }]);
}

/** What the draft's content becomes; its references are replaced where the document changes. */
async function changeContent(
  tx: Sql,
  row: DefinitionRow,
  body: UpdateDefinition,
): Promise<DefinitionContent> {
  const changes = documentChanges(row, body);
  if (body.yaml === undefined && Object.keys(changes).length === 0)
    return { ...row, ...columnsOf(row, body) };
  if (body.yaml !== undefined) requireVersion(row, readDocument(body.yaml, row).version);
  const yaml = editDefinition(body.yaml ?? row.yaml, changes);
  const source = readDocument(yaml, row);
  await replaceDefinitionReferences(tx, row.id, listReferences(source));
  return { ...contentOf(yaml, source), ...columnsOf(row, body) };
}

function documentChanges(row: DefinitionRow, body: UpdateDefinition): DefinitionChanges {
  const fields = DOCUMENT_FIELDS.filter(
    (field) => body[field] !== undefined && !(row.type === "workflow" && WORKFLOW_COLUMNS.includes(field)),
  );
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

/** What a workflow keeps in columns only: as the body says, else as they were. */
function columnsOf(row: DefinitionRow, body: UpdateDefinition): Partial<DefinitionContent> {
  if (row.type !== "workflow") return {};
  const subdomain = body.subdomain === undefined ? row.subdomain : body.subdomain.trim() || null;
  return { subdomain, tags: normalizeTags(body.tags ?? row.tags) };
}

function normalizeTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

function requireVersion(row: DefinitionRow, version: string): void {
  if (version === row.version) return;
  throw new ApiError("VERSION_MISMATCH", {
    message: `Cannot accept the document: its version is "${version}", the path says "${row.version}"`,
    details: { documentVersion: version, pathVersion: row.version },
  });
}
