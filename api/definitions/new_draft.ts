/** Adds drafts to lines, with their references and audit entries. */
import { changeTypeBetween, nextPatch, versionBefore } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionTier, DefinitionType, DefinitionVisibility } from "../../shared/vocabulary.ts";
import { type AuditActor, type AuditEntry, insertAuditEntries } from "../../sql/accounts/audit_log.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { DefinitionContent, DefinitionRow } from "../../sql/definitions/fields.ts";
import { insertDefinitionReferences } from "../../sql/definitions/references.ts";
import { insertDefinitions, type NewDefinition } from "../../sql/definitions/version_changes.ts";
import {
  findDefinitionById,
  listVersionNumbers,
  type ShownDefinitionRow,
} from "../../sql/definitions/versions.ts";
import type { DefinitionViewer } from "../../sql/definitions/visibility.ts";
import type { Caller } from "../http/caller.ts";
import type { WrittenDocument } from "./document.ts";
import { lineFull } from "./quotas.ts";

/** Runs a step of a task when it is the task's turn. */
export type StepInTurn = <Result>(step: () => Promise<Result>) => Promise<Result>;

/** Runs a step immediately, for a task that already has a turn or needs none. */
export const atOnce: StepInTurn = (step) => step();

/** The caller of a write and the organization to write to. */
export interface Writer {
  caller: Pick<Caller, "userId" | "platformRole">;
  /** Determines which references resolve. */
  viewer: DefinitionViewer;
  actor: AuditActor;
  org: MembershipRow;
  /** Whether the request names the organization, by path, body, header or a bound key. */
  isOrgNamed: boolean;
  /** Runs a step that may wait for locks, in the request's turn. The step must not wait for another turn. */
  inTurn: StepInTurn;
}

export interface NewDraft {
  /** The id of a line that this transaction has locked (`upsertLines`, `lockLine`) or inserted. */
  lineId: string;
  document: WrittenDocument;
  /** Values of columns that the document has no field for. */
  columns?: Partial<Pick<DefinitionContent, "subdomain" | "tags">>;
  visibility: DefinitionVisibility;
  /** The result of `readProvenance`, or the stored provenance of another version. */
  provenance: DefinitionRow["provenance"];
  changeSummary?: string | null;
  /** The action in the audit log. */
  action: `definition.${string}`;
}

/**
 * Adds a version to a line that this transaction has locked. Throws VERSION_EXISTS if the line already has the version, or
 * QUOTA_EXCEEDED if the line is full.
 */
export async function addDraft(tx: Sql, writer: Writer, draft: NewDraft): Promise<ShownDefinitionRow> {
  const versions = await listVersionNumbers(tx, draft.lineId);
  const { type, name, version } = draft.document;
  if (versions.includes(version))
    throw versionExists({ type, name, version, orgSlug: writer.org.slug }, versions);
  const full = lineFull(versions.length);
  if (full) throw full;
  const id = crypto.randomUUID();
  await insertDrafts(tx, writer, [{ id, draft, versions }]);
  return requireRow(tx, id, writer);
}

/** A draft whose version number is free, and all version numbers of its line in ascending order. */
export interface PlacedDraft {
  id: string;
  draft: NewDraft;
  versions: readonly string[];
}

/** Adds drafts to lines that this transaction has locked. */
export async function insertDrafts(tx: Sql, writer: Writer, placed: readonly PlacedDraft[]): Promise<void> {
  const definitions = placed.map((one) => newDefinition(writer, one));
  await insertDefinitions(tx, definitions);
  const versions = placed.map(({ id, draft: { document, action } }) => ({ ...document, id, action }));
  await insertDefinitionReferences(tx, versions);
  const auditEntries = versions.map((version) => auditOf(writer, version, version.action));
  await insertAuditEntries(tx, auditEntries);
}

function newDefinition(writer: Writer, { id, draft, versions }: PlacedDraft): NewDefinition {
  const { lineId, document, columns, visibility, provenance, changeSummary = null } = draft;
  const { type, name, version } = document;
  return {
    ...document.content,
    ...columns,
    id,
    lineId,
    orgId: writer.org.orgId,
    type,
    name,
    version,
    visibility,
    tier: naturalTier(writer.org),
    authorId: writer.caller.userId,
    provenance,
    changeSummary,
    changeType: changeTypeBetween(versionBefore(version, versions), version),
  };
}

/** Returns the default tier of an organization's definitions. Platform administrators can set another tier. */
export function naturalTier(org: Pick<MembershipRow, "isPersonal">): DefinitionTier {
  return org.isPersonal ? "user" : "org";
}

export function auditOf(
  { actor, org }: Writer,
  row: { id: string; type: DefinitionType; name: string; version: string },
  action: NewDraft["action"],
): AuditEntry {
  return {
    ...actor,
    action,
    subject: { type: "definition", id: row.id },
    orgId: org.orgId,
    details: { type: row.type, name: row.name, version: row.version },
  };
}

/** Returns a row that this transaction has just written, in the form shown to the writer. */
export async function requireRow(tx: Sql, id: string, { viewer }: Writer): Promise<ShownDefinitionRow> {
  const row = await findDefinitionById(tx, { id, viewer });
  if (!row) throw new Error(`Cannot find definition ${id}, which this transaction has just written`);
  return row;
}

/** Returns VERSION_EXISTS, for a version that exists or for a line without free version numbers. */
export function versionExists(
  options: { type: DefinitionType; name: string; version: string; orgSlug: string },
  versions: readonly string[],
): ApiError {
  const message = TEXTS.VERSION_EXISTS.org(options, options.orgSlug);
  const nextAvailable = nextPatch(options.version, versions);
  return new ApiError("VERSION_EXISTS", { message, details: { nextAvailable } });
}
