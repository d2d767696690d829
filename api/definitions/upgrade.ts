/** POST …/upgrade: adds a major version with Markdown to a line whose latest version lacks it. */
import { isDeepStrictEqual } from "node:util";
import { type Static, Type } from "@sinclair/typebox";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { nextMajor } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { requestBody, Text } from "../../shared/schemas.ts";
import { lockLine } from "../../sql/definitions/definition_lines.ts";
import { type DefinitionRow, EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { findLatestDefinition, listVersionNumbers } from "../../sql/definitions/versions.ts";
import { operation, reply } from "../http/operation.ts";
import { type DefinitionAddress, parseAddress } from "./address.ts";
import { type DefinitionDeps, editDocument, requireDocument, type WrittenDocument } from "./document.ts";
import { definitionNotFound } from "./find_visible.ts";
import { findLineWriter, requireOwnLine } from "./find_writable.ts";
import { addDraft, type NewDraft, versionExists, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import {
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  VersionPossible,
  type Warning,
  WRITE,
  withWarnings,
} from "./schemas.ts";

const Upgrade = requestBody("Upgrade", { yaml: Type.String() }, { yaml: EXAMPLE_YAML });

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
    const { writer, address } = await findLineWriter(deps, { address: asked, caller, request });
    const { data, warnings } = await upgradeVersion(deps, { writer, address, yaml: body.yaml });
    return reply(201, withWarnings(data, warnings));
  },
);

/**
 * Adds the next major version with the given document. Throws ALREADY_DUAL_STORAGE if the latest version has Markdown,
 * NOT_FOUND if the path names a version that does not exist, and TRANSLATION_FAILED if the document cannot be rendered. Stores
 * nothing on an error.
 */
async function upgradeVersion(
  { sql, documents }: DefinitionDeps,
  options: { writer: Writer; address: DefinitionAddress; yaml: string },
): Promise<{ data: Static<typeof UpgradedDefinition>; warnings: Warning[] }> {
  const { writer, address, yaml } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  return writeOptimistically(sql, writer, {
    load: async (on) => {
      const used = await countUsedQuotas(on, writer.org);
      await lockLine(on, lineId);
      const versions = await listVersionNumbers(on, lineId);
      const latest = await findLatestDefinition(on, lineId);
      const isThere = address.version === null || versions.includes(address.version);
      if (!latest || !isThere) throw definitionNotFound(address, "version");
      if (latest.runtimeMd !== null) {
        const message = TEXTS.ALREADY_DUAL_STORAGE(latest);
        throw new ApiError("ALREADY_DUAL_STORAGE", { message, details: { version: latest.version } });
      }
      requireRoom(writer.org, used, { drafts: 1, lines: 0, yamlBytes: Buffer.byteLength(yaml) });
      return { latest, versions };
    },
    prepare: async ({ latest, versions }) => {
      const version = nextMajor(versions);
      if (version === null) throw versionExists(latest, versions);
      const work = documents.forCaller(writer.caller.userId);
      const [failure] = (await requireDocument(work, yaml, latest)).failures;
      if (failure) {
        const { reason, path } = failure;
        const { type, name } = latest;
        const message = TEXTS.TRANSLATION_FAILED({ type, name }, failure.message);
        throw new ApiError("TRANSLATION_FAILED", { message, details: { reason, path } });
      }
      return editDocument(work, { yaml, changes: { version } }, latest);
    },
    isStale: (seen, locked) => !isDeepStrictEqual(seen.versions, locked.versions),
    apply: async (tx, { latest }, { document, warnings }) => {
      const previousVersion = latest.version;
      const { type, name, version } = await addDraft(tx, writer, {
        lineId: latest.lineId,
        document,
        columns: columnsOf(latest, document),
        visibility: latest.visibility,
        provenance: latest.provenance,
        changeSummary: `Upgraded from ${previousVersion}`,
        action: "definition.upgrade",
      });
      const translatorVersion = TRANSLATOR_VERSION;
      const data = { type, name, version, previousVersion, translatorVersion, upgraded: true };
      return { data, warnings };
    },
  });
}

/** For a workflow, keeps the latest version's `subdomain` and `tags`, which the document has no fields for. */
function columnsOf(latest: DefinitionRow, { type, content }: WrittenDocument): NewDraft["columns"] & object {
  if (type !== "workflow") return {};
  const { subdomain, tags } = content;
  return { subdomain: subdomain ?? latest.subdomain, tags: tags.length > 0 ? tags : latest.tags };
}
