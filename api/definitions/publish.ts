/** Publishing: from here on a version is what it is, can be named, and is what its line is known by. */
import { listReferences } from "../../shared/definition_ref.ts";
import type { DefinitionSource } from "../../shared/definition_source.ts";
import { ApiError } from "../../shared/errors.ts";
import { scanDefinition } from "../../shared/safety_scan.ts";
import type { Translation } from "../../shared/translate/translate.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import { markDefinitionPublished } from "../../sql/definition_changes.ts";
import { markLinePublished } from "../../sql/definition_lines.ts";
import {
  type DefinitionReferenceRow,
  lockDependencyGraph,
  replaceDefinitionReferences,
} from "../../sql/definition_references.ts";
import type { DefinitionRow } from "../../sql/definitions.ts";
import type { Pool, Sql } from "../../sql/pool.ts";
import type { VersionAddress } from "./address.ts";
import { findDependencyCycle } from "./dependency_cycle.ts";
import { readDocument, renderDocument } from "./document.ts";
import { requireMove } from "./move.ts";
import { auditOf, requireRow, type Writer } from "./new_draft.ts";
import { resolveReferences } from "./resolved_references.ts";
import { changeVersion } from "./writing.ts";

/** What is not as its author may wish, and no reason to refuse. */
export interface Warning {
  code: "TRANSLATION_FAILED" | "UNRESOLVED_REFERENCE" | "SAFETY_SIGNAL" | "SAFETY_SCAN_FAILED";
  message: string;
  details: Readonly<Record<string, unknown>>;
}

/**
 * Publishes a draft. Throws INVALID_TRANSITION, UNPROCESSABLE_ENTITY for a document that create would refuse, or
 * DEPENDENCY_CYCLE; then nothing has changed.
 */
export async function publishDefinition(
  sql: Pool,
  given: { writer: Writer; address: VersionAddress },
): Promise<{ row: DefinitionRow; warnings: Warning[] }> {
  const { writer } = given;
  return changeVersion(sql, given, async (tx, row) => {
    requireMove(row, "published");
    const source = readDocument(row.yaml, row);
    const { translation, ...runtime } = renderDocument(source);
    const scan = scanDocument(source);
    const references = listReferences(source);
    await replaceDefinitionReferences(tx, row.id, references);
    const published = await markDefinitionPublished(tx, {
      id: row.id,
      riskProfile: scan.riskProfile,
      ...runtime,
    });
    if (!published) throw new Error(`Cannot publish definition ${row.id}, which is locked and a draft`);
    await markLinePublished(tx, row.lineId);
    if (references.some(({ inTree }) => inTree)) await refuseCycle(tx, row, writer);
    await insertAuditEntry(tx, auditOf(writer, row, "definition.publish"));
    const warnings = [
      ...translationWarnings(translation),
      ...(await referenceWarnings(tx, { row, references, writer })),
      ...scan.warnings,
    ];
    return { row: await requireRow(tx, row.id), warnings };
  });
}

async function refuseCycle(tx: Sql, row: DefinitionRow, { viewer }: Writer): Promise<void> {
  await lockDependencyGraph(tx);
  const cycle = await findDependencyCycle(tx, { row, viewer });
  if (!cycle) return;
  throw new ApiError("DEPENDENCY_CYCLE", {
    message: `Cannot publish ${row.type} "${row.name}@${row.version}": it depends on itself: ${cycle.join(" → ")}`,
    details: { cycle },
  });
}

function translationWarnings(translation: Translation): Warning[] {
  if (translation.ok) return [];
  const { reason, path, message } = translation;
  return [{ code: "TRANSLATION_FAILED", message, details: { reason, path } }];
}

async function referenceWarnings(
  tx: Sql,
  given: { row: DefinitionRow; references: readonly DefinitionReferenceRow[]; writer: Writer },
): Promise<Warning[]> {
  const { orgId } = given.row;
  const references = given.references.map((reference) => ({ ...reference, orgId }));
  const resolved = await resolveReferences(tx, { references, viewer: given.writer.viewer });
  return resolved
    .filter(({ target }) => target === null)
    .map(({ reference: { type, name, range } }) => ({
      code: "UNRESOLVED_REFERENCE",
      message: `Cannot find a published ${type} for "${name}@${range}"`,
      details: { type, name, range },
    }));
}

/** A scan that fails is a warning, and no reason not to publish. */
function scanDocument(source: DefinitionSource): { riskProfile: object | null; warnings: Warning[] } {
  try {
    const { version, capabilities, signals, riskLevel } = scanDefinition(source);
    const scannedAt = new Date().toISOString();
    const sync = { version, scannedAt, capabilities, signals, riskLevel };
    return {
      riskProfile: { sync, deep: null, aggregateRiskLevel: riskLevel, lastUpdated: scannedAt },
      warnings: signals.map(({ id, severity, title, location }) => ({
        code: "SAFETY_SIGNAL",
        message: `${title} (${location})`,
        details: { id, severity, location },
      })),
    };
  } catch {
    const message = "Cannot scan the document for signs of misuse: the scan failed";
    return { riskProfile: null, warnings: [{ code: "SAFETY_SCAN_FAILED", message, details: {} }] };
  }
}
