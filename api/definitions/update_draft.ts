/** Updates a draft: its document, fields of it, or its settings. */
import type { DefinitionChanges } from "../../shared/definitions/edit.ts";
import { allowsOperation } from "../../shared/definitions/lifecycle.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { maySetDefinitionTier } from "../../shared/policy.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { updateDraft } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { DefinitionQuotas } from "../../sql/definitions/quotas.ts";
import { replaceDefinitionReferences } from "../../sql/definitions/references.ts";
import type { DefinitionContent, ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import type { DocumentWork } from "../documents/documents.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidInput } from "../http/validation_problems.ts";
import type { VersionAddress } from "./address.ts";
import {
  type DefinitionDeps,
  type EditedDocument,
  editDocument,
  rejectLongFields,
  requireDocument,
  type WrittenDocument,
  workOf,
} from "./document.ts";
import type { UpdateDefinition } from "./edit_bodies.ts";
import { lockVersion, requireOwnLine } from "./find_writable.ts";
import { auditOf, naturalTier, requireRow, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { readProvenance } from "./provenance.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import { requireUnchanged } from "./require_state.ts";
import type { Warning } from "./schemas.ts";

/** Fields of the body that are part of the document. */
const DOCUMENT_FIELDS = ["displayName", "description", "domain", "subdomain", "agentType", "tags"] as const;

/** Fields that a workflow's document does not have; they are stored in columns only. */
const WORKFLOW_COLUMNS: readonly string[] = ["subdomain", "tags"];

/** The rows that an update reads and locks first. */
interface Loaded {
  row: DefinitionRow;
  used: DefinitionQuotas;
}

/** The row after an update, and what else its author should know. */
export interface UpdatedDraft {
  row: ShownDefinitionRow;
  warnings: Warning[];
}

export async function updateVersion(
  { sql, documents }: DefinitionDeps,
  options: { writer: Writer; address: VersionAddress; body: UpdateDefinition },
): Promise<UpdatedDraft> {
  const { writer, address, body } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  const work = workOf(documents, writer);
  const requireBytes = ({ row, used }: Loaded, yaml: string): void => {
    const yamlBytes = Buffer.byteLength(yaml) - Buffer.byteLength(row.yaml);
    if (yamlBytes > 0) requireRoom(writer.org, used, { drafts: 0, lines: 0, yamlBytes });
  };
  return writeOptimistically<Loaded, EditedDocument | null, UpdatedDraft>(sql, writer, {
    load: async (on) => {
      const used = await countUsedQuotas(on, writer.org);
      const row = await lockVersion(on, lineId, address);
      if (!allowsOperation(row.status, "update")) throw notEditable(row);
      requireUnchanged(row, body.expectedUpdatedAt);
      return { row, used };
    },
    prepare: async (seen) => {
      rejectBody(writer, body);
      if (body.yaml !== undefined) requireBytes(seen, body.yaml);
      return changeDocument(work, seen.row, body);
    },
    isStale: (seen, locked) => seen.row.yaml !== locked.row.yaml,
    apply: async (tx, locked, edited) => {
      const { document = null, warnings = [] } = edited ?? {};
      if (document) requireBytes(locked, document.content.yaml);
      await storeDraft(tx, { row: locked.row, body, document });
      await insertAuditEntry(tx, auditOf(writer, locked.row, "definition.update"));
      return { row: await requireRow(tx, locked.row.id, writer), warnings };
    },
  });
}

async function storeDraft(
  tx: Sql,
  options: { row: DefinitionRow; body: UpdateDefinition; document: WrittenDocument | null },
): Promise<void> {
  const { row, body, document } = options;
  if (document) await replaceDefinitionReferences(tx, row.id, document.references);
  const changed = await updateDraft(tx, {
    id: row.id,
    ...(document?.content ?? row),
    ...columnsOf(row, body),
    visibility: body.visibility ?? row.visibility,
    tier: body.tier ?? row.tier,
    provenance: body.provenance === undefined ? row.provenance : readProvenance(body.provenance),
    changeSummary: body.changeSummary ?? row.changeSummary,
    changeType: body.changeType ?? row.changeType,
  });
  if (!changed) throw new Error(`Cannot update definition ${row.id}, which is locked and a draft`);
}

/** Returns the error for a version that is no draft. */
function notEditable(row: DefinitionRow): ApiError {
  return new ApiError("NOT_EDITABLE", {
    message: TEXTS.NOT_EDITABLE({ type: row.type, address: `${row.name}@${row.version}` }, row.status),
    details: { status: row.status },
  });
}

/** Checks the body before its document is parsed. */
function rejectBody(writer: Writer, body: UpdateDefinition): void {
  const { displayName, description, subdomain, tags, changeSummary } = body;
  rejectUnstorable({ displayName, description, subdomain, tags, changeSummary });
  rejectLongFields({ displayName, description });
  requireTierRole(writer, body.tier);
  readProvenance(body.provenance ?? null);
}

/** `user` and `org` follow from the kind of organization; only platform administrators set `pro`. */
function requireTierRole({ caller, org }: Writer, tier: UpdateDefinition["tier"]): void {
  if (tier === undefined) return;
  requireAllowed(maySetDefinitionTier({ tier, platformRole: caller.platformRole }));
  const natural = naturalTier(org);
  if (tier === "pro" || tier === natural) return;
  throw invalidInput([{ path: "tier", message: `must be ${natural} in this organization, or pro` }]);
}

/** Returns the new document of the draft, or null if it stays unchanged. */
async function changeDocument(
  work: DocumentWork,
  row: DefinitionRow,
  body: UpdateDefinition,
): Promise<EditedDocument | null> {
  const changes = documentChanges(row, body);
  const given = body.yaml === undefined ? null : await requireDocument(work, body.yaml, row);
  if (given) requireVersion(row, given.version);
  if (Object.keys(changes).length > 0)
    return editDocument(work, { yaml: body.yaml ?? row.yaml, changes }, row);
  return given === null ? null : { document: given, warnings: [] };
}

function documentChanges(row: DefinitionRow, body: UpdateDefinition): DefinitionChanges {
  const fields = DOCUMENT_FIELDS.filter(
    (field) => body[field] !== undefined && !(row.type === "workflow" && WORKFLOW_COLUMNS.includes(field)),
  );
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

/** Returns the columns that a workflow does not have in its document: from the body, else unchanged. */
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
    details: { documentVersion: version, pathVersion: row.version },
  });
}
