/** Forks a version: its document becomes the first draft of a new line, in the resolved organization. */
import type { QualifiedName } from "../../shared/definitions/edit.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionVisibility } from "../../shared/vocabulary.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { retryOnDeadlock } from "../../sql/connection/retry_on_deadlock.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { type ForkRow, insertFork } from "../../sql/definitions/forks.ts";
import { findLineId, incrementForkCount, insertForkLine } from "../../sql/definitions/lines.ts";
import { listBareTargets } from "../../sql/definitions/references.ts";
import { holdDefinition, type ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { OTHER_ORG_ADVICE } from "../http/require_allowed.ts";
import { type DefinitionDeps, workOf } from "./document.ts";
import { editDocument } from "./edit_document.ts";
import { definitionNotFound } from "./find_readable.ts";
import { requireForkable } from "./forks/forkable.ts";
import { addDraft, type Writer } from "./new_draft.ts";
import { requireQuota } from "./quotas.ts";
import { listWarnings, type Warning } from "./warnings/warnings.ts";

const FIRST_VERSION = "1.0.0";

/** The body of a fork request. */
export interface ForkRequest {
  name: string;
  visibility?: DefinitionVisibility;
  displayName?: string;
  description?: string;
}

/**
 * Forks a version. Throws NAME_TAKEN if the organization has a line of that name, NOT_FOUND or NOT_FORKABLE if the
 * source has changed meanwhile; nothing has changed then.
 */
export async function forkDefinition(
  { sql, documents }: DefinitionDeps,
  given: { writer: Writer; source: DefinitionRow; wanted: ForkRequest },
): Promise<{ definition: ShownDefinitionRow; fork: ForkRow; warnings: Warning[] }> {
  const { writer, source: original, wanted } = given;
  const { type } = original;
  const { name, visibility = "private", displayName, description } = wanted;
  const changes = {
    name,
    version: FIRST_VERSION,
    ...(displayName === undefined ? {} : { displayName }),
    ...(description === undefined ? {} : { description }),
  };
  const names = await listForeignNames(sql, original, writer);
  const key = { orgId: writer.org.orgId, type, name };
  if ((await findLineId(sql, key)) !== null) throw nameTaken({ ...key, orgSlug: writer.org.slug });
  const added = { drafts: 1, lines: 1, yamlBytes: Buffer.byteLength(original.yaml) };
  await requireQuota(sql, writer.org, added);
  const work = workOf(documents, writer);
  const edited = await editDocument(work, { yaml: original.yaml, changes, names }, { type, name });
  const { document } = edited;
  const store = async (tx: Sql) => {
    // It may have been quarantined, archived or deleted while the document was written.
    const held = await holdDefinition(tx, { id: original.id, viewer: writer.viewer });
    if (!held) throw definitionNotFound(original, "version");
    await requireForkable(tx, held, writer.viewer);
    await requireQuota(tx, writer.org, added);
    const lineId = await insertForkLine(tx, { ...key, forkedFromId: original.id });
    if (lineId === null) throw nameTaken({ ...key, orgSlug: writer.org.slug });
    const definition = await addDraft(tx, writer, {
      lineId,
      document,
      // A workflow has these two in columns only; other documents contain them.
      columns: { subdomain: original.subdomain, tags: original.tags },
      visibility,
      // Validated when it was first stored.
      provenance: original.provenance as object | null,
      // No source name here: readers of the history may not be allowed to see the source. The lineage checks that.
      changeSummary: "Forked",
      action: "definition.fork",
    });
    // Last, because forks of one line wait for each other here.
    await incrementForkCount(tx, original.lineId);
    const forkedBy = writer.caller.userId;
    const definitionId = definition.id;
    const fork = await insertFork(tx, { lineId, definitionId, source: original, forkedBy });
    const { viewer } = writer;
    // A draft is for members, whatever its visibility; publishing tells what other readers cannot resolve.
    const warnings = await listWarnings(tx, { definitionId, document, viewer, isPublic: false });
    return { definition, fork, warnings: [...edited.warnings, ...warnings] };
  };
  // A batch locks lines in the order of their names. A fork locks its own line first, then that of its source.
  return retryOnDeadlock(() => sql.begin(store));
}

/**
 * Lists the bare names of the source that mean lines of organizations other than the fork's. The fork qualifies them;
 * otherwise they would resolve to other lines of the same name.
 */
async function listForeignNames(
  sql: Sql,
  { id }: DefinitionRow,
  { viewer, org }: Writer,
): Promise<QualifiedName[]> {
  const targets = await listBareTargets(sql, { definitionId: id, viewer });
  return targets
    .filter(({ orgId }) => orgId !== org.orgId)
    .map(({ type, name, orgSlug }) => ({ type, name, orgSlug }));
}

function nameTaken({ type, name, orgSlug }: { type: string; name: string; orgSlug: string }): ApiError {
  return new ApiError("NAME_TAKEN", {
    message:
      `Organization "${orgSlug}" already has ${type} "${name}". Choose another name for the fork. ` +
      OTHER_ORG_ADVICE,
    details: { type, name },
  });
}
