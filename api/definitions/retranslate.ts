/** Retranslates a version: renders it with the current translator, in place or as a new version. */
import { isDeepStrictEqual } from "node:util";
import { allowedTransitions, allowsOperation } from "../../shared/definitions/lifecycle.ts";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { nextPatch } from "../../shared/definitions/versions.ts";
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { updateDefinitionRuntime } from "../../sql/definitions/changes.ts";
import type { DefinitionRow, TranslationErrorJson } from "../../sql/definitions/fields.ts";
import { lockLine } from "../../sql/definitions/lines.ts";
import { listVersionNumbers } from "../../sql/definitions/versions.ts";
import type { DocumentWork } from "../documents/documents.ts";
import type { VersionAddress } from "./address.ts";
import { type DefinitionDeps, requireDocument, runtimeOf, type WrittenDocument, workOf } from "./document.ts";
import { type EditedDocument, editDocument } from "./edit_document.ts";
import { lockVersion, requireOwnLine } from "./find_writable.ts";
import { addDraft, auditOf, versionExists, type Writer } from "./new_draft.ts";
import { writeOptimistically } from "./optimistic_write.ts";
import { countUsedQuotas, requireRoom } from "./quotas.ts";
import type { DefinitionWarning } from "./warnings/warnings.ts";

export interface RetranslateResult {
  type: string;
  name: string;
  version: string;
  /** Null if the document cannot be rendered and has no stored text. */
  translatorVersion: string | null;
  previousTranslatorVersion: string | null;
  newVersionCreated: boolean;
  newVersion: string | null;
  /** Whether the current translator renders another text. */
  changes: boolean;
  /** Why the current translator cannot render the document; absent where it can. */
  translationError?: TranslationErrorJson;
}

/** The rows that a retranslation reads and locks first. */
interface Loaded {
  row: DefinitionRow;
  /** All versions of the line; empty if none is added. */
  versions: string[];
}

interface Prepared {
  document: WrittenDocument;
  /** Whether the current translator renders another text. */
  changes: boolean;
  /** The new version, if one is added instead of changing this one in place. */
  draft: EditedDocument | null;
}

export async function retranslateVersion(
  { sql, documents }: DefinitionDeps,
  options: { writer: Writer; address: VersionAddress; createNewVersion: boolean },
): Promise<{ data: RetranslateResult; warnings: DefinitionWarning[] }> {
  const { writer, address, createNewVersion } = options;
  const lineId = await requireOwnLine(sql, writer, address);
  const work = workOf(documents, writer);
  return writeOptimistically<Loaded, Prepared, { data: RetranslateResult; warnings: DefinitionWarning[] }>(
    sql,
    {
      load: async (on) => {
        const used = createNewVersion ? await countUsedQuotas(on, writer.org) : null;
        const row = await lockVersion(on, lineId, address);
        rejectArchived(row);
        if (used === null) return { row, versions: [] };
        // The size of the new YAML is not known yet, but it is close to the present one.
        requireRoom(writer.org, used, { drafts: 1, lines: 0, yamlBytes: 1 });
        await lockLine(on, lineId);
        return { row, versions: await listVersionNumbers(on, lineId) };
      },
      prepare: async ({ row, versions }) => {
        const document = await requireDocument(work, row.yaml, row);
        // A stored text is kept if the current translator cannot render the document.
        const changes = document.failures.length === 0 && document.content.runtimeMd !== row.runtimeMd;
        const isNew = changes && createNewVersion;
        return { document, changes, draft: isNew ? await nextDraft(work, row, versions) : null };
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
    },
  );
}

function present(row: DefinitionRow, { document, changes, draft }: Prepared): RetranslateResult {
  const { translationError } = document.content;
  return {
    type: row.type,
    name: row.name,
    version: row.version,
    // As the definition says it: a text that is kept is still that of the translator that rendered it.
    translatorVersion: translationError === null ? TRANSLATOR_VERSION : row.translatorVersion,
    previousTranslatorVersion: row.translatorVersion,
    newVersionCreated: draft !== null,
    newVersion: draft?.document.version ?? null,
    changes,
    ...(translationError === null ? {} : { translationError }),
  };
}

function rejectArchived(row: DefinitionRow): void {
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

/** Returns the document as the next PATCH version. */
async function nextDraft(
  work: DocumentWork,
  row: DefinitionRow,
  versions: readonly string[],
): Promise<EditedDocument> {
  const version = nextPatch(row.version, versions);
  if (version === null) throw versionExists(row, versions);
  return editDocument(work, { yaml: row.yaml, changes: { version } }, row);
}

/** Stores the new text, or why rendering failed. Returns false if nothing changed. */
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
      // Validated when it was first stored.
      provenance: row.provenance as object | null,
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
