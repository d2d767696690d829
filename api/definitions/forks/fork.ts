/** POST …/fork: copies a version into the first draft of a new line, in the resolved organization. */
import { type Static, Type } from "@sinclair/typebox";
import { isLetterFirstName, NAME_RULE } from "../../../shared/definitions/name.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { mayWriteDefinitions } from "../../../shared/policy.ts";
import { data, listOf, oneOf, requestBody } from "../../../shared/schemas.ts";
import { DEFINITION_VISIBILITIES } from "../../../shared/vocabulary.ts";
import { findLineId, incrementForkCount, insertForkLine } from "../../../sql/definitions/definition_lines.ts";
import { type DefinitionRow, NAMED_FIELDS } from "../../../sql/definitions/fields.ts";
import { type ForkRow, insertFork } from "../../../sql/definitions/forks.ts";
import { listForeignNames } from "../../../sql/definitions/references.ts";
import { holdDefinition, type ShownDefinitionRow } from "../../../sql/definitions/versions.ts";
import { operation, reply } from "../../http/operation.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { rejectUnstorable } from "../../http/storable_text.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { parseReadAddress } from "../address.ts";
import { type DefinitionDeps, editDocument, rejectLongFields } from "../document.ts";
import { definitionNotFound, findTarget, requireDefinition } from "../find_visible.ts";
import { findWriter, requireStillWriter, runWrite } from "../find_writable.ts";
import { addDraft, type Writer } from "../new_draft.ts";
import { requireQuota } from "../quotas.ts";
import {
  Definition,
  EXAMPLE_DEFINITION,
  exampleOfRow,
  VersionOrId,
  Warning,
  WRITE,
  WRITE_FAILURES,
} from "../schemas.ts";
import { checkVersions } from "../warnings.ts";
import { EXAMPLE_FORK, EXAMPLE_FORKED, Fork, ForkSource, requireForkable } from "./forks.ts";

const FIRST_VERSION = "1.0.0";

const EXAMPLE = {
  definition: {
    ...EXAMPLE_DEFINITION,
    ...EXAMPLE_FORKED,
    status: "draft",
    visibility: "private",
    publishedAt: null,
    releasedAt: null,
    executionCount: 0,
    uniqueExecutionCount: 0,
    forkCount: 0,
    forkedFromId: EXAMPLE_FORK.sourceDefinitionId,
    namespace: "@ada/my-reviewer",
  },
  fork: EXAMPLE_FORK,
  source: exampleOfRow(NAMED_FIELDS),
  warnings: [],
};

const NewFork = requestBody(
  "NewFork",
  {
    name: Type.String({
      description: "Name of the fork, not yet used in the organization",
      examples: ["my-reviewer"],
    }),
    visibility: Type.Optional(oneOf(DEFINITION_VISIBILITIES)),
    displayName: Type.Optional(Type.String({ minLength: 1 })),
    description: Type.Optional(Type.String()),
    targetOrgSlug: Type.Optional(
      Type.String({
        deprecated: true,
        maxLength: 100,
        description: "The organization of the fork, for older clients. Use `X-Org-Slug`",
      }),
    ),
  },
  { name: "my-reviewer", visibility: "private" },
);

export type NewFork = Static<typeof NewFork>;

export const forkDefinition = operation(
  {
    ...WRITE,
    id: "forkDefinition",
    path: "/api/v1/definitions/{type}/{name}/fork",
    summary: "Fork a definition",
    description:
      "The source must be published or deprecated, or belong to one of the caller's organizations. The fork is a draft " +
      "1.0.0; its name, its version and the fields of the body are written into the document. References to definitions " +
      "of other organizations get their `@org/`. All other bytes stay. Non-fatal problems of the fork are returned in " +
      "`warnings`.",
    params: VersionOrId,
    body: NewFork,
    response: {
      201: data(
        { definition: Definition, fork: Fork, source: ForkSource, warnings: listOf(Warning) },
        "The fork and its source",
        EXAMPLE,
      ),
    },
    fails: [
      ...WRITE_FAILURES,
      "NOT_FOUND",
      "NOT_FORKABLE",
      "NAME_TAKEN",
      "PAYLOAD_TOO_LARGE",
      "UNPROCESSABLE_ENTITY",
      "QUOTA_EXCEEDED",
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const { sql } = deps;
    const address = parseReadAddress(params);
    rejectBody(body);
    const orgSlug = body.targetOrgSlug ?? null;
    const writer = await findWriter(deps, { caller, request, orgSlug });
    const source = await requireDefinition(sql, await findTarget(sql, address, writer.viewer));
    requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
    await requireForkable(sql, source, writer.viewer);
    const { definition, fork, warnings } = await forkVersion(deps, { writer, source, wanted: body });
    const { id, type, name, version, authorId, orgId } = source;
    const shownSource = { id, type, name, version, authorId, orgId };
    return reply(201, { data: { definition: definition.shown, fork, source: shownSource, warnings } });
  },
);

function rejectBody({ name, displayName, description }: NewFork): void {
  rejectUnstorable({ displayName, description });
  rejectLongFields({ displayName, description });
  if (isLetterFirstName(name)) return;
  throw invalidField("name", `${NAME_RULE}; it starts with a letter`);
}

/**
 * Forks a version. Throws NAME_TAKEN if the organization has a line with that name, and NOT_FOUND or NOT_FORKABLE if the source
 * has changed in the meantime. Stores nothing on an error.
 */
export async function forkVersion(
  { sql, documents }: DefinitionDeps,
  options: { writer: Writer; source: DefinitionRow; wanted: NewFork },
): Promise<{ definition: ShownDefinitionRow; fork: ForkRow; warnings: Warning[] }> {
  const { writer, source: original, wanted } = options;
  const { type } = original;
  const { name, visibility = "private", displayName, description } = wanted;
  const changes = {
    name,
    version: FIRST_VERSION,
    ...(displayName === undefined ? {} : { displayName }),
    ...(description === undefined ? {} : { description }),
  };
  // Adds `@org/` to names that resolve to other organizations. Otherwise they would resolve to other lines in the fork.
  const names = await listForeignNames(sql, {
    definitionId: original.id,
    viewer: writer.viewer,
    orgId: writer.org.orgId,
  });
  const key = { orgId: writer.org.orgId, type, name };
  const nameTaken = () => {
    const message = TEXTS.NAME_TAKEN.fork({ type, name }, writer.org.slug);
    return new ApiError("NAME_TAKEN", { message, details: { type, name } });
  };
  if ((await findLineId(sql, key)) !== null) throw nameTaken();
  const added = { drafts: 1, lines: 1, yamlBytes: Buffer.byteLength(original.yaml) };
  await writer.inTurn(() => requireQuota(sql, writer.org, added));
  const work = documents.forCaller(writer.caller.userId);
  const edited = await editDocument(work, { yaml: original.yaml, changes, names }, { type, name });
  const { document } = edited;
  // Deadlocks are possible: a batch locks lines in name order, but a fork locks its own line before the source's line.
  return runWrite(sql, writer, async (tx) => {
    await requireQuota(tx, writer.org, added);
    // The source may have been quarantined, archived or deleted while the document was edited.
    const held = await holdDefinition(tx, { id: original.id, viewer: writer.viewer });
    if (!held) throw definitionNotFound(original, "version");
    await requireForkable(tx, held, writer.viewer);
    const lineId = await insertForkLine(tx, { ...key, forkedFromId: original.id });
    await requireStillWriter(tx, writer);
    if (lineId === null) throw nameTaken();
    const definition = await addDraft(tx, writer, {
      lineId,
      document,
      // A workflow stores these two fields only in columns; other documents contain them.
      columns: { subdomain: original.subdomain, tags: original.tags },
      visibility,
      provenance: original.provenance,
      // The summary omits the source's name, which readers of the history may not be allowed to see. The lineage checks access.
      changeSummary: "Forked",
      action: "definition.fork",
    });
    // This lock is last, because forks of one line wait for each other here.
    await incrementForkCount(tx, original.lineId);
    const forkedBy = writer.caller.userId;
    const { id } = definition;
    const fork = await insertFork(tx, { lineId, definitionId: id, source: original, forkedBy });
    // Only members can read a draft. Publishing reports references that other readers cannot resolve.
    const checked = { row: { id, visibility: "private" as const }, document };
    const [check] = await checkVersions(tx, writer, [checked]);
    return { definition, fork, warnings: [...edited.warnings, ...(check?.warnings ?? [])] };
  });
}
