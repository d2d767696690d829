/** POST …/upgrade: adds a new major version with Markdown to a line whose latest version has none. */
import { isDeepStrictEqual } from "node:util";
import { type Static, Type } from "@sinclair/typebox";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { nextMajor } from "../../shared/definitions/versions.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { type DefinitionRow, EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { lockLine } from "../../sql/definitions/lines.ts";
import { findLatestDefinition, listVersionNumbers } from "../../sql/definitions/versions.ts";
import type { DocumentWork } from "../documents/documents.ts";
import { operation, reply } from "../http/operation.ts";
import { Text } from "../http/schemas.ts";
import { type DefinitionAddress, parseAddress } from "./address.ts";
import {
  type DefinitionDeps,
  type EditedDocument,
  editDocument,
  requireDocument,
  type WrittenDocument,
  workOf,
} from "./document.ts";
import { definitionNotFound } from "./find_visible.ts";
import { findLineWriter, requireOwnLine } from "./find_writable.ts";
import { addDraft, type NewDraft, versionExists, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import type { Warning } from "./schemas.ts";
import {
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  VersionPossible,
  WRITE,
} from "./schemas.ts";

const Upgrade = Type.Object(
  { yaml: Type.String() },
  { title: "Upgrade", additionalProperties: false, examples: [{ yaml: EXAMPLE_YAML }] },
);

const UpgradedDefinition = Type.Object(
  {
    type: Text,
    name: Text,
    version: Text,
    previousVersion: Text,
    translatorVersion: Text,
    upgraded: Type.Boolean({ description: "Always true" }),
  },
  {
    title: "UpgradedDefinition",
    examples: [
      {
        type: "agent",
        name: "reviewer",
        version: "2.0.0",
        previousVersion: "1.0.0",
        translatorVersion: "1.0.0",
        upgraded: true,
      },
    ],
  },
);

export const upgradeDefinition = operation(
  {
    ...WRITE,
    id: "upgradeDefinition",
    path: "/api/v1/definitions/{type}/{name}/upgrade",
    summary: "Upgrade a definition without Markdown to a new major version",
    description:
      "Creates a draft of the next MAJOR version from the YAML in the body; the service sets its version. The latest version " +
      "must have no `runtimeMd`, and the YAML must be renderable.",
    params: VersionPossible,
    body: Upgrade,
    yamlQuery: {},
    response: { 201: dataAndWarnings(UpgradedDefinition, "The new draft") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "ALREADY_DUAL_STORAGE",
      "TRANSLATION_FAILED",
      "QUOTA_EXCEEDED",
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const asked = parseAddress(params);
    const { writer, address } = await findLineWriter(deps.sql, { address: asked, caller, request });
    return reply(201, await upgradeVersion(deps, { writer, address, yaml: body.yaml }));
  },
);

/** The rows that an upgrade reads and locks first. */
interface Loaded {
  latest: DefinitionRow;
  versions: string[];
}

/**
 * Adds the next MAJOR with the given document. Throws ALREADY_DUAL_STORAGE if the latest version has a runtime text,
 * NOT_FOUND if the path names a version that does not exist, and TRANSLATION_FAILED for a document without a
 * rendering; then nothing has changed.
 */
async function upgradeVersion(
  { sql, documents }: DefinitionDeps,
  options: { writer: Writer; address: DefinitionAddress; yaml: string },
): Promise<{ data: Static<typeof UpgradedDefinition>; warnings: Warning[] }> {
  const { writer, address } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  return writeOptimistically(sql, writer, {
    load: async (on) => {
      const used = await countUsedQuotas(on, writer.org);
      const loaded = await findUpgradable(on, lineId, address);
      requireRoom(writer.org, used, { drafts: 1, lines: 0, yamlBytes: Buffer.byteLength(options.yaml) });
      return loaded;
    },
    prepare: (loaded) => upgradedDocument(workOf(documents, writer), options.yaml, loaded),
    isStale: (seen, locked) => !isDeepStrictEqual(seen.versions, locked.versions),
    apply: async (tx, { latest }, { document, warnings }) => {
      const row = await addUpgraded(tx, { latest, document, writer });
      const { type, name, version } = row;
      const previousVersion = latest.version;
      const translatorVersion = TRANSLATOR_VERSION;
      const data = { type, name, version, previousVersion, translatorVersion, upgraded: true };
      return { data, warnings };
    },
  });
}

async function findUpgradable(sql: Sql, lineId: string, address: DefinitionAddress): Promise<Loaded> {
  await lockLine(sql, lineId);
  const versions = await listVersionNumbers(sql, lineId);
  const latest = await findLatestDefinition(sql, lineId);
  const isThere = address.version === null || versions.includes(address.version);
  if (!latest || !isThere) throw definitionNotFound(address, "version");
  if (latest.runtimeMd !== null) throw alreadyUpgraded(latest);
  return { latest, versions };
}

function alreadyUpgraded(latest: DefinitionRow): ApiError {
  return new ApiError("ALREADY_DUAL_STORAGE", {
    message: TEXTS.ALREADY_DUAL_STORAGE(latest),
    details: { version: latest.version },
  });
}

/** Returns the client's document with the version set by the service. */
async function upgradedDocument(
  work: DocumentWork,
  yaml: string,
  { latest, versions }: Loaded,
): Promise<EditedDocument> {
  const version = nextMajor(versions);
  if (version === null) throw versionExists(latest, versions);
  const { failures } = await requireDocument(work, yaml, latest);
  if (failures[0]) throw notRenderable(latest, failures[0]);
  return editDocument(work, { yaml, changes: { version } }, latest);
}

function notRenderable(
  { type, name }: DefinitionRow,
  { reason, path, message }: WrittenDocument["failures"][number],
): ApiError {
  return new ApiError("TRANSLATION_FAILED", {
    message: TEXTS.TRANSLATION_FAILED({ type, name }, message),
    details: { reason, path },
  });
}

async function addUpgraded(
  tx: Sql,
  options: { latest: DefinitionRow; document: WrittenDocument; writer: Writer },
): Promise<DefinitionRow> {
  const { latest, document, writer } = options;
  return addDraft(tx, writer, {
    lineId: latest.lineId,
    document,
    columns: columnsOf(latest, document),
    visibility: latest.visibility,
    provenance: latest.provenance,
    changeSummary: `Upgraded from ${latest.version}`,
    action: "definition.upgrade",
  });
}

/** Keeps the columns that a workflow's document has no field for. */
function columnsOf(latest: DefinitionRow, { type, content }: WrittenDocument): NewDraft["columns"] & object {
  if (type !== "workflow") return {};
  const { subdomain, tags } = content;
  return { subdomain: subdomain ?? latest.subdomain, tags: tags.length > 0 ? tags : latest.tags };
}
