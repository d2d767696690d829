/** POST …/publish: publishes a draft, which becomes immutable and resolvable by name. */
import { Type } from "@sinclair/typebox";
import { requestBody } from "../../shared/schemas.ts";
import { insertAuditEntries } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { markLinesPublished } from "../../sql/definitions/definition_lines.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import {
  markReferencesForMembers,
  replaceDefinitionReferences,
  settleDefinitionReferences,
} from "../../sql/definitions/references.ts";
import { markDefinitionsPublished } from "../../sql/definitions/version_changes.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { insertDefinitionEvents } from "../../sql/events/events.ts";
import { lockTransaction } from "../../sql/locks.ts";
import { operation, reply } from "../http/operation.ts";
import { listCycleErrors, type PublishedRow } from "./dependencies/cycle.ts";
import { type DefinitionDeps, requireDocument, runtimeOf, type WrittenDocument } from "./document.ts";
import {
  findVersionWriter,
  lockVersion,
  requireMove,
  requireOwnLine,
  type VersionWrite,
} from "./find_writable.ts";
import { groupBySize, MAX_CHARACTERS_AT_ONCE } from "./group_by_size.ts";
import { atOnce, auditOf, requireRow, type Writer } from "./new_draft.ts";
import { ExpectedUpdatedAt, requireUnchanged, writeOptimistically } from "./optimistic_write.ts";
import {
  Definition,
  DOCUMENT_FAILURES,
  LINE_WRITE_FAILURES,
  VersionNeeded,
  type Warning,
  Warnings,
  WRITE,
} from "./schemas.ts";
import {
  type CheckedVersion,
  checkVersions,
  limitResolution,
  listUnknownNames,
  type VersionCheck,
} from "./warnings.ts";

const Publishing = requestBody("Publication", { expectedUpdatedAt: ExpectedUpdatedAt }, {});

export const publishDefinition = operation(
  {
    ...WRITE,
    id: "publishDefinition",
    path: "/api/v1/definitions/{type}/{name}/publish",
    summary: "Publish a draft",
    description:
      "Publishes the version. It can no longer change, and each reference is bound to the definition it resolves to now. " +
      "Non-fatal problems are returned in `warnings`; `REFERENCE_NOT_PUBLIC` means that a public version references a " +
      "definition that other organizations cannot see.",
    params: VersionNeeded,
    body: Publishing,
    response: { 200: Type.Object({ data: Definition, warnings: Warnings }, { description: "Published" }) },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "INVALID_TRANSITION",
      "EDIT_CONFLICT",
      "DEPENDENCY_CYCLE",
    ],
  },
  async ({ params, body: { expectedUpdatedAt }, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    const publish = () => publishDraft(deps, { ...write, expectedUpdatedAt });
    const { row, warnings } = await deps.turns.publications(request, publish);
    return reply(200, { data: row.shown, warnings });
  },
);

/**
 * Publishes a draft. Throws INVALID_TRANSITION, EDIT_CONFLICT, DEPENDENCY_CYCLE, or UNPROCESSABLE_ENTITY for an invalid
 * document. Stores nothing on an error.
 */
export async function publishDraft(
  deps: DefinitionDeps,
  { writer, address, expectedUpdatedAt }: VersionWrite & { expectedUpdatedAt?: string | undefined },
): Promise<{ row: ShownDefinitionRow; warnings: Warning[] }> {
  const { sql, documents } = deps;
  const lineId = await requireOwnLine(sql, writer, address);
  // The whole publication already runs in a turn.
  const publisher = { ...writer, inTurn: atOnce };
  return writeOptimistically(sql, publisher, {
    load: async (on) => {
      const row = await lockVersion(on, lineId, address);
      requireMove(row, "published");
      requireUnchanged(row, expectedUpdatedAt);
      return row;
    },
    prepare: async (row) => {
      const document = await requireDocument(documents.forCaller(writer.caller.userId), row.yaml, row);
      return { document, earlyWarnings: await listUnknownNames(deps, document) };
    },
    isStale: (seen, locked) => seen.yaml !== locked.yaml,
    apply: async (tx, row, { document, earlyWarnings }) => {
      const publication = { row, document };
      await replaceDefinitionReferences(tx, row.id, document.references);
      await storePublished(tx, writer, [publication]);
      const [check] = await checkPublished(tx, writer, [publication]);
      const shown = await requireRow(tx, row.id, writer);
      // Takes this lock last, because other publications wait for it.
      await lockDependencies(tx, [publication]);
      const cycle = (await listCycleErrors(tx, writer, [publication])).get(row.id);
      if (cycle) throw cycle;
      return { row: shown, warnings: [...(check?.warnings ?? []), ...earlyWarnings] };
    },
  });
}

/** A draft that is being published, with its document. */
export interface Publication extends CheckedVersion {
  row: PublishedRow & Pick<DefinitionRow, "lineId" | "visibility">;
}

/**
 * Serializes publications that have dependencies, so that each searches for cycles in the versions published before it. Call
 * this after every other lock of the transaction and commit soon, because all organizations share the lock.
 */
export async function lockDependencies(
  tx: Sql,
  publications: readonly Pick<Publication, "document">[],
): Promise<void> {
  const isInTree = publications.some(({ document }) => document.references.some(({ inTree }) => inTree));
  if (isInTree) await lockTransaction(tx, "dependencyGraph");
}

/** Publishes drafts in the given order and binds their references. The transaction must have locked or added the drafts. */
export async function storePublished(
  tx: Sql,
  writer: Writer,
  publications: readonly Publication[],
): Promise<void> {
  const definitionIds = publications.map(({ row }) => row.id);
  if (publications.some(({ document }) => document.references.length > 0)) {
    const settled = { definitionIds, viewer: writer.viewer };
    await limitResolution(tx, () => settleDefinitionReferences(tx, settled));
  }
  // The risk profile is not counted, because it is small.
  const sizeOf = ({ document }: Publication) => document.content.runtimeMd?.length ?? 0;
  for (const group of groupBySize(publications, { sizeOf, max: MAX_CHARACTERS_AT_ONCE })) {
    const rows = group.map(({ row, document }) => {
      return { id: row.id, riskProfile: riskProfileOf(document), ...runtimeOf(document) };
    });
    if ((await markDefinitionsPublished(tx, rows)) !== rows.length)
      throw new Error(`Cannot publish ${rows.map(({ id }) => id).join(", ")}: not all of them are drafts`);
  }
  const lineIds = publications.map(({ row }) => row.lineId);
  await markLinesPublished(tx, lineIds);
  const auditEntries = publications.map(({ row }) => auditOf(writer, row, "definition.publish"));
  await insertAuditEntries(tx, auditEntries);
  await insertDefinitionEvents(tx, { type: "definition.published", definitionIds });
}

/**
 * Runs `checkVersions` for versions that this transaction has published. References to other organizations that the author
 * cannot resolve are marked, so that they never resolve for readers outside the author's organization.
 */
export async function checkPublished(
  tx: Sql,
  writer: Writer,
  publications: readonly CheckedVersion[],
): Promise<VersionCheck[]> {
  const checks = await checkVersions(tx, writer, publications);
  const foreign = checks
    .flatMap(({ references }) => references)
    .filter(({ reference, target }) => target === null && reference.targetOrgId !== writer.org.orgId)
    .map(({ reference }) => reference);
  await markReferencesForMembers(tx, foreign);
  return checks;
}

/** Returns the risk profile of a document, or null if its safety scan failed. */
export function riskProfileOf({ scan }: WrittenDocument): object | null {
  if (scan === null) return null;
  const { version, capabilities, signals, riskLevel } = scan;
  const scannedAt = new Date().toISOString();
  const sync = { version, scannedAt, capabilities, signals, riskLevel };
  return { sync, deep: null, aggregateRiskLevel: riskLevel, lastUpdated: scannedAt };
}
