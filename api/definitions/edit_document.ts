/** Edits fields and references of a document, and reads the result. */
import type { DefinitionChanges, QualifiedName } from "../../shared/definitions/edit.ts";
import type { DocumentWork } from "../documents/documents.ts";
import { type ExpectedDocument, invalidDocument, requireDocument, type WrittenDocument } from "./document.ts";
import type { Warning } from "./schemas.ts";

export interface EditedDocument {
  document: WrittenDocument;
  /** ALIAS_REPLACED for each alias that no longer has the value of its anchor. */
  warnings: Warning[];
}

/**
 * Writes fields into a document and qualifies its references to `names`; all other bytes stay. Throws
 * UNPROCESSABLE_ENTITY if the document is invalid, or if other parts would have to change.
 */
export async function editDocument(
  work: DocumentWork,
  options: { yaml: string; changes: DefinitionChanges; names?: readonly QualifiedName[] },
  expected: ExpectedDocument,
): Promise<EditedDocument> {
  const edited = await work.edit(options);
  if (!edited.ok) throw invalidDocument(edited.problems);
  const document = await requireDocument(work, edited.yaml, expected);
  const warnings = edited.replacedAliases.map((place) => ({
    code: "ALIAS_REPLACED" as const,
    details: {},
    ...place,
  }));
  return { document, warnings };
}
