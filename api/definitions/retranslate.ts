/** Retranslating: the text that today's translator makes of a document, in place or as a new version. */
import { editDefinition } from "../../shared/definition_edit.ts";
import { allowedTransitions, allowsOperation } from "../../shared/definition_lifecycle.ts";
import { nextPatch } from "../../shared/definition_versions.ts";
import { ApiError } from "../../shared/errors.ts";
import { TRANSLATOR_VERSION } from "../../shared/translate/translate.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import { updateDefinitionRuntime } from "../../sql/definition_changes.ts";
import { lockLine } from "../../sql/definition_lines.ts";
import { type DefinitionRow, listVersionNumbers } from "../../sql/definitions.ts";
import type { Pool, Sql } from "../../sql/pool.ts";
import type { VersionAddress } from "./address.ts";
import { contentOf, readDocument, renderDocument } from "./document.ts";
import { addDraft, auditOf, versionExists, type Writer } from "./new_draft.ts";
import { changeVersion } from "./writing.ts";

export interface RetranslateResult {
  type: string;
  name: string;
  version: string;
  translatorVersion: string;
  previousTranslatorVersion: string | null;
  newVersionCreated: boolean;
  newVersion: string | null;
  /** Whether the text is another one now. */
  changes: boolean;
}

export async function retranslateDefinition(
  sql: Pool,
  given: { writer: Writer; address: VersionAddress; createNewVersion: boolean },
): Promise<RetranslateResult> {
  return changeVersion(sql, given, async (tx, row) => {
    refuseArchived(row);
    const { translation, ...runtime } = renderDocument(readDocument(row.yaml, row));
    // A text that works is not given up because today's translator cannot make one.
    const changes = translation.ok && translation.runtimeMd !== row.runtimeMd;
    const isNew = changes && given.createNewVersion;
    const newVersion = isNew ? await addRetranslated(tx, row, given.writer) : null;
    if (!isNew && (translation.ok || row.runtimeMd === null)) {
      await updateDefinitionRuntime(tx, { id: row.id, ...runtime });
    }
    await insertAuditEntry(tx, auditOf(given.writer, row, "definition.retranslate"));
    return {
      type: row.type,
      name: row.name,
      version: row.version,
      translatorVersion: TRANSLATOR_VERSION,
      previousTranslatorVersion: row.translatorVersion,
      newVersionCreated: newVersion !== null,
      newVersion,
      changes,
    };
  });
}

function refuseArchived(row: DefinitionRow): void {
  if (allowsOperation(row.status, "retranslate")) return;
  throw new ApiError("INVALID_TRANSITION", {
    message: `Cannot retranslate ${row.type} "${row.name}@${row.version}": its status is '${row.status}'`,
    details: {
      from: row.status,
      to: row.status,
      allowedTransitions: allowedTransitions(row.status),
      applicationState: "not_applied",
    },
  });
}

/** Adds a draft that differs from `row` in its PATCH and in its text; returns its version. */
async function addRetranslated(tx: Sql, row: DefinitionRow, writer: Writer): Promise<string> {
  await lockLine(tx, row.lineId);
  const versions = await listVersionNumbers(tx, row.lineId);
  const version = nextPatch(row.version, versions);
  if (version === null) throw versionExists(row, versions);
  const yaml = editDefinition(row.yaml, { version });
  const source = readDocument(yaml, row);
  await addDraft(tx, writer, {
    lineId: row.lineId,
    source,
    content: { ...contentOf(yaml, source), subdomain: row.subdomain, tags: row.tags },
    visibility: row.visibility,
    // Stored as it was read here before.
    provenance: row.provenance as object | null,
    changeSummary: `Retranslated by translator ${TRANSLATOR_VERSION}`,
    action: "definition.create",
  });
  return version;
}
