/**
 * POST …/retranslate renders a version with the current translator, in place or as a new version. GET
 * /definitions/translation/version returns the translator version.
 */
import { isDeepStrictEqual } from "node:util";
import { type Static, Type } from "@sinclair/typebox";
import { allowsOperation } from "../../shared/definitions/lifecycle.ts";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { nextPatch } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { data, Nullable, requestBody, Text } from "../../shared/schemas.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { lockLine } from "../../sql/definitions/definition_lines.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { updateDefinitionRuntime } from "../../sql/definitions/version_changes.ts";
import { listVersionNumbers } from "../../sql/definitions/versions.ts";
import { operation, reply } from "../http/operation.ts";
import {
  type DefinitionDeps,
  type EditedDocument,
  editDocument,
  requireDocument,
  runtimeOf,
  type WrittenDocument,
} from "./document.ts";
import {
  findVersionWriter,
  invalidTransition,
  lockVersion,
  requireOwnLine,
  type VersionWrite,
} from "./find_writable.ts";
import { addDraft, auditOf, versionExists, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import {
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  VersionNeeded,
  type Warning,
  WRITE,
  withWarnings,
} from "./schemas.ts";

export const getTranslatorVersion = operation(
  {
    id: "getTranslatorVersion",
    method: "GET",
    path: "/api/v1/definitions/translation/version",
    access: "public",
    tag: "Definitions",
    summary: "Get the translator version",
    description:
      "The translator renders YAML to Markdown. Each definition has the `translatorVersion` that rendered it.",
    response: {
      200: data(
        { translatorVersion: Type.String({ examples: ["1.0.0"] }) },
        "Raised whenever the same YAML would render to another text",
      ),
    },
  },
  async () => reply(200, { data: { translatorVersion: TRANSLATOR_VERSION } }),
);

const Retranslation = requestBody(
  "Retranslation",
  { createNewVersion: Type.Optional(Type.Boolean()) },
  { createNewVersion: true },
);
const RetranslatedDefinition = Type.Object(
  {
    type: Text,
    name: Text,
    version: Text,
    translatorVersion: Nullable(Text, {
      description: "If `changes` is false, that of the stored text; null without one",
    }),
    previousTranslatorVersion: Nullable(Text),
    newVersionCreated: Type.Boolean(),
    newVersion: Nullable(Text),
    changes: Type.Boolean(),
    translationError: Type.Optional(
      Type.Object(
        { reason: Text, path: Text },
        { description: "Why the document cannot be rendered; absent if it can" },
      ),
    ),
  },
  {
    title: "RetranslatedDefinition",
    examples: [
      {
        type: "agent",
        name: "reviewer",
        version: "1.0.0",
        translatorVersion: "1.0.0",
        previousTranslatorVersion: "1.0.0",
        newVersionCreated: false,
        newVersion: null,
        changes: false,
      },
    ],
  },
);

export const retranslateDefinition = operation(
  {
    ...WRITE,
    id: "retranslateDefinition",
    path: "/api/v1/definitions/{type}/{name}/retranslate",
    summary: "Render a version again with the current translator",
    description:
      "Replaces `runtimeMd` if the current translator renders another text; with `createNewVersion`, the new text goes into a new " +
      "PATCH draft instead. The YAML stays the same. If the text is the same, or the document cannot be rendered, `changes` is " +
      "false and the stored text is kept.",
    params: VersionNeeded,
    body: Retranslation,
    response: { 200: dataAndWarnings(RetranslatedDefinition, "The outcome") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...(["UNPROCESSABLE_ENTITY", "INVALID_TRANSITION", "VERSION_EXISTS", "QUOTA_EXCEEDED"] as const),
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    const { createNewVersion = false } = body;
    const { data, warnings } = await retranslateVersion(deps, { ...write, createNewVersion });
    return reply(200, withWarnings(data, warnings));
  },
);

type Retranslated = Static<typeof RetranslatedDefinition>;

interface Prepared {
  document: WrittenDocument;
  /** Whether the current translator renders a different text. */
  changes: boolean;
  /** The document of the new version; null if no version is added. */
  draft: EditedDocument | null;
}

async function retranslateVersion(
  { sql, documents }: DefinitionDeps,
  options: VersionWrite & { createNewVersion: boolean },
): Promise<{ data: Retranslated; warnings: Warning[] }> {
  const { writer, address, createNewVersion } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  const work = documents.forCaller(writer.caller.userId);
  return writeOptimistically(sql, writer, {
    load: async (on) => {
      const used = createNewVersion ? await countUsedQuotas(on, writer.org) : null;
      const row = await lockVersion(on, lineId, address);
      if (!allowsOperation(row.status, "retranslate")) {
        const message = TEXTS.INVALID_TRANSITION.retranslate(row, row.status);
        throw invalidTransition(row, row.status, message);
      }
      // Rendering in place adds no version.
      if (used === null) return { row, versions: [] };
      // The new YAML differs only in its version number.
      requireRoom(writer.org, used, { drafts: 1, lines: 0, yamlBytes: Buffer.byteLength(row.yaml) });
      await lockLine(on, lineId);
      return { row, versions: await listVersionNumbers(on, lineId) };
    },
    prepare: async ({ row, versions }): Promise<Prepared> => {
      const document = await requireDocument(work, row.yaml, { ...row, isStored: true });
      // The stored text is kept if the current translator cannot render the document.
      const changes = document.failures.length === 0 && document.content.runtimeMd !== row.runtimeMd;
      if (!changes || !createNewVersion) return { document, changes, draft: null };
      const version = nextPatch(row.version, versions);
      if (version === null) throw versionExists(row, versions);
      const draft = await editDocument(work, { yaml: row.yaml, changes: { version } }, row);
      return { document, changes, draft };
    },
    isStale: (seen, locked) =>
      seen.row.yaml !== locked.row.yaml ||
      seen.row.runtimeMd !== locked.row.runtimeMd ||
      !isDeepStrictEqual(seen.versions, locked.versions),
    apply: async (tx, { row }, prepared) => {
      if (await storeRetranslated(tx, { row, prepared, writer })) {
        await insertAuditEntry(tx, auditOf(writer, row, "definition.retranslate"));
      }
      return { data: present(row, prepared), warnings: prepared.draft?.warnings ?? [] };
    },
  });
}

function present(row: DefinitionRow, { document, changes, draft }: Prepared): Retranslated {
  const { translationError } = document.content;
  return {
    type: row.type,
    name: row.name,
    version: row.version,
    // If the text is unchanged, the row's translator version rendered it.
    translatorVersion: changes ? TRANSLATOR_VERSION : row.translatorVersion,
    previousTranslatorVersion: row.translatorVersion,
    newVersionCreated: draft !== null,
    newVersion: draft?.document.version ?? null,
    changes,
    ...(translationError === null ? {} : { translationError }),
  };
}

/** Stores the new text, or the reason for a failed rendering. Returns false if nothing changed. */
async function storeRetranslated(
  tx: Sql,
  options: { row: DefinitionRow; prepared: Prepared; writer: Writer },
): Promise<boolean> {
  const { row, writer } = options;
  const { document, draft, changes } = options.prepared;
  if (draft) {
    await addDraft(tx, writer, {
      lineId: row.lineId,
      document: draft.document,
      columns: { subdomain: row.subdomain, tags: row.tags },
      visibility: row.visibility,
      provenance: row.provenance,
      changeSummary: `Retranslated by translator ${TRANSLATOR_VERSION}`,
      action: "definition.create",
    });
    return true;
  }
  const { translationError } = document.content;
  const hasOtherReason = row.runtimeMd === null && !isDeepStrictEqual(translationError, row.translationError);
  if (!changes && !hasOtherReason) return false;
  await updateDefinitionRuntime(tx, { id: row.id, ...runtimeOf(document) });
  return true;
}
