/** Upgrading: a line whose latest version has no runtime text gets a new major version that has one. */
import { editDefinition } from "../../shared/definition_edit.ts";
import type { DefinitionSource } from "../../shared/definition_source.ts";
import { nextMajor } from "../../shared/definition_versions.ts";
import { ApiError } from "../../shared/errors.ts";
import { TRANSLATOR_VERSION } from "../../shared/translate/translate.ts";
import { lockLine } from "../../sql/definition_lines.ts";
import {
  type DefinitionContent,
  type DefinitionRow,
  findLatestDefinition,
  listVersionNumbers,
} from "../../sql/definitions.ts";
import type { Pool, Sql } from "../../sql/pool.ts";
import type { DefinitionAddress } from "./address.ts";
import { contentOf, readDocument } from "./document.ts";
import { addDraft, versionExists, type Writer } from "./new_draft.ts";
import { definitionNotFound } from "./reading.ts";
import { requireOwnLine } from "./writing.ts";

export interface UpgradeResult {
  type: string;
  name: string;
  version: string;
  previousVersion: string;
  translatorVersion: string;
  /** False when there is no text of the new document either; its draft tells why. */
  upgraded: boolean;
}

/** Throws ALREADY_DUAL_STORAGE when the latest version has a runtime text. A version in the path has to be there. */
export async function upgradeDefinition(
  sql: Pool,
  given: { writer: Writer; address: DefinitionAddress; yaml: string },
): Promise<UpgradeResult> {
  const { writer, address, yaml } = given;
  const lineId = await requireOwnLine(sql, writer, address);
  return sql.begin(async (tx) => {
    await lockLine(tx, lineId);
    const versions = await listVersionNumbers(tx, lineId);
    const latest = await findLatestDefinition(tx, lineId);
    const isThere = address.version === null || versions.includes(address.version);
    if (!latest || !isThere) throw definitionNotFound(address, "version");
    if (latest.runtimeMd !== null) throw alreadyUpgraded(latest);
    const row = await addUpgraded(tx, { latest, versions, yaml, writer });
    return {
      type: row.type,
      name: row.name,
      version: row.version,
      previousVersion: latest.version,
      translatorVersion: TRANSLATOR_VERSION,
      upgraded: row.runtimeMd !== null,
    };
  });
}

function alreadyUpgraded(latest: DefinitionRow): ApiError {
  return new ApiError("ALREADY_DUAL_STORAGE", {
    message: `Cannot upgrade ${latest.type} "${latest.name}": its latest version ${latest.version} has a runtime text already`,
    details: { version: latest.version },
  });
}

/** The document is the client's, its version the service's. */
async function addUpgraded(
  tx: Sql,
  given: { latest: DefinitionRow; versions: readonly string[]; yaml: string; writer: Writer },
): Promise<DefinitionRow> {
  const { latest, versions, writer } = given;
  const version = nextMajor(versions);
  if (version === null) throw versionExists(latest, versions);
  readDocument(given.yaml, latest);
  const yaml = editDefinition(given.yaml, { version });
  const source = readDocument(yaml, latest);
  return addDraft(tx, writer, {
    lineId: latest.lineId,
    source,
    content: { ...contentOf(yaml, source), ...columnsOf(latest, source) },
    visibility: latest.visibility,
    // Stored as it was read here before.
    provenance: latest.provenance as object | null,
    changeSummary: `Upgraded from ${latest.version}`,
    action: "definition.upgrade",
  });
}

/** What a workflow's document does not say of its columns stays as it was: it has no place for it. */
function columnsOf(latest: DefinitionRow, { type, fields }: DefinitionSource): Partial<DefinitionContent> {
  if (type !== "workflow") return {};
  const { subdomain, tags } = fields;
  return { subdomain: subdomain ?? latest.subdomain, tags: tags.length > 0 ? tags : latest.tags };
}
