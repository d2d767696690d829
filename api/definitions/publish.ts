/** Publishes a draft: it becomes immutable, and its name resolves to it. */
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { markDefinitionPublished } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { markLinePublished } from "../../sql/definitions/lines.ts";
import { replaceDefinitionReferences, settleDefinitionReferences } from "../../sql/definitions/references.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { insertDefinitionEvent } from "../../sql/events/events.ts";
import { lockTransaction } from "../../sql/locks.ts";
import type { VersionAddress } from "./address.ts";
import { findDependencyCycles } from "./dependencies/cycle.ts";
import { type DefinitionDeps, requireDocument, runtimeOf, type WrittenDocument, workOf } from "./document.ts";
import { requireMove } from "./move.ts";
import { auditOf, requireRow, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { listUnknownNames } from "./warnings/unknown_names.ts";
import { listWarnings, type Warning } from "./warnings/warnings.ts";
import { lockVersion, requireOwnLine } from "./writing.ts";

/**
 * Publishes a draft. Throws INVALID_TRANSITION, UNPROCESSABLE_ENTITY for an invalid document, or DEPENDENCY_CYCLE; then
 * nothing has changed.
 */
export async function publishDefinition(
  deps: DefinitionDeps,
  { writer, address }: { writer: Writer; address: VersionAddress },
): Promise<{ row: ShownDefinitionRow; warnings: Warning[] }> {
  const { sql, documents } = deps;
  const lineId = await requireOwnLine(sql, writer, address);
  return writeOptimistically(sql, {
    load: async (on) => {
      const row = await lockVersion(on, lineId, address);
      requireMove(row, "published");
      return row;
    },
    prepare: async (row) => {
      const document = await requireDocument(workOf(documents, writer), row.yaml, row);
      return { row, document, unknownNames: await listUnknownNames(deps, document) };
    },
    isStale: (seen, locked) => seen.yaml !== locked.yaml,
    apply: async (tx, row, prepared) => {
      const publication = { ...prepared, row };
      await lockDependencies(tx, [publication.document]);
      await replaceDefinitionReferences(tx, row.id, publication.document.references);
      await storePublished(tx, writer, publication);
      const cycle = (await listCycleErrors(tx, writer, [publication])).get(row);
      if (cycle) throw cycle;
      const warnings = await listWarningsOf(tx, writer, publication);
      return { row: await requireRow(tx, row.id, writer), warnings };
    },
  });
}

/** A draft that is being published, with its document. */
export interface Publication {
  row: DefinitionRow;
  document: WrittenDocument;
  /** Found before the transaction began. */
  unknownNames: readonly Warning[];
}

/**
 * Makes publications that reference each other take turns, so that each sees what the others have published. Call it before
 * any lock of a line.
 */
export async function lockDependencies(tx: Sql, documents: readonly WrittenDocument[]): Promise<void> {
  if (documents.some(({ references }) => references.length > 0)) await lockTransaction(tx, "dependencyGraph");
}

/** Publishes the locked draft, binds its stored references, and adds the audit entry. */
export async function storePublished(
  tx: Sql,
  writer: Writer,
  { row, document }: Omit<Publication, "unknownNames">,
): Promise<void> {
  if (document.references.length > 0)
    await settleDefinitionReferences(tx, { definitionId: row.id, viewer: writer.viewer });
  const published = await markDefinitionPublished(tx, {
    id: row.id,
    riskProfile: riskProfileOf(document),
    ...runtimeOf(document),
  });
  if (!published) throw new Error(`Cannot publish definition ${row.id}, which is locked and a draft`);
  await markLinePublished(tx, row.lineId);
  await insertAuditEntry(tx, auditOf(writer, row, "definition.publish"));
  await insertDefinitionEvent(tx, { type: "definition.published", definitionId: row.id });
}

/** Returns a DEPENDENCY_CYCLE for each version, of those that this transaction has published, that depends on itself. */
export async function listCycleErrors(
  tx: Sql,
  { viewer }: Writer,
  publications: readonly Pick<Publication, "row" | "document">[],
): Promise<Map<DefinitionRow, ApiError>> {
  const rows = publications
    .filter(({ document }) => document.references.some(({ inTree }) => inTree))
    .map(({ row }) => row);
  const cycles = await findDependencyCycles(tx, { rows, viewer });
  const errors = new Map<DefinitionRow, ApiError>();
  for (const row of rows) {
    const cycle = cycles.get(row.id);
    if (!cycle) continue;
    const message = `Cannot publish ${row.type} "${row.name}@${row.version}": it depends on itself: ${cycle.join(" → ")}`;
    errors.set(row, new ApiError("DEPENDENCY_CYCLE", { message, details: { cycle } }));
  }
  return errors;
}

/** Returns everything that the author of a stored version is warned about. */
export async function listWarningsOf(
  tx: Sql,
  { viewer }: Writer,
  { row, document, unknownNames }: Publication,
): Promise<Warning[]> {
  const isPublic = row.visibility === "public";
  const warnings = await listWarnings(tx, { definitionId: row.id, document, viewer, isPublic });
  return [...warnings, ...unknownNames];
}

/** Returns the risk profile of a document; null if its scan failed. */
export function riskProfileOf({ scan }: WrittenDocument): object | null {
  if (scan === null) return null;
  const { version, capabilities, signals, riskLevel } = scan;
  const scannedAt = new Date().toISOString();
  const sync = { version, scannedAt, capabilities, signals, riskLevel };
  return { sync, deep: null, aggregateRiskLevel: riskLevel, lastUpdated: scannedAt };
}
