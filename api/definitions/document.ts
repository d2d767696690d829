/** Parses, renders and edits YAML documents. */
import type { DefinitionChanges, QualifiedName } from "../../shared/definitions/edit.ts";
import { tooLong } from "../../shared/definitions/interface_fields.ts";
import { MAX_DEFINITION_BYTES } from "../../shared/definitions/parse_definition.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { DefinitionProblem } from "../../shared/yaml/problems.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import type { DefinitionContent, DefinitionRuntime } from "../../sql/definitions/fields.ts";
import type { Documents, DocumentWork } from "../documents/documents.ts";
import type { ReadDocument } from "../documents/read_document.ts";
import { requestContext } from "../http/request_context.ts";
import { invalidField } from "../http/validation_problems.ts";
import type { CatalogCache } from "../models/catalog_cache.ts";
import type { Warning } from "./schemas.ts";

/** Dependencies of the functions that change definitions. */
export interface DefinitionDeps {
  sql: Pool;
  documents: Documents;
  /** Null if models are not checked. */
  catalog: Pick<CatalogCache, "current"> | null;
}

/** A parsed document with its YAML text, as stored in a version. */
export interface WrittenDocument extends Omit<ReadDocument, "content"> {
  content: DefinitionContent;
}

/** The result of parsing a text: the document, or an error and the problems that caused it. */
type DocumentOutcome =
  | { ok: true; document: WrittenDocument }
  | { ok: false; error: ApiError; problems: DefinitionProblem[] };

/** The type and name that a document must have; null accepts any. */
interface ExpectedDocument {
  type: DefinitionType | null;
  name: string | null;
  /** True for a stored text, which may exceed the limits of new documents. */
  isStored?: boolean;
}

/**
 * Parses a document. Returns errors instead of throwing them: VALIDATION_ERROR for a blank text, PAYLOAD_TOO_LARGE,
 * NAME_MISMATCH, or UNPROCESSABLE_ENTITY with every problem found. Throws only the errors of the document worker.
 */
export async function readWritten(
  work: Pick<DocumentWork, "read">,
  yaml: string,
  { type, name, isStored }: ExpectedDocument,
): Promise<DocumentOutcome> {
  const invalid = invalidText(yaml);
  if (invalid) return { ok: false, error: invalid, problems: [{ path: "yaml", message: invalid.message }] };
  const reading = await work.read({ type, name, yaml, isStored });
  if (reading.ok)
    return { ok: true, document: { ...reading.document, content: { yaml, ...reading.document.content } } };
  if ("otherName" in reading) {
    const { otherName, line, column } = reading;
    const details = { documentName: otherName, pathName: name ?? "" };
    const error = new ApiError("NAME_MISMATCH", { details });
    const path = `${type ?? "yaml"}.interface.name`;
    return { ok: false, error, problems: [{ path, message: error.message, line, column }] };
  }
  const { problems } = reading;
  return { ok: false, error: invalidDocument(problems), problems };
}

/** Returns UNPROCESSABLE_ENTITY with all problems. `toMessage` derives its message from the first problem's message. */
export function invalidDocument(
  problems: readonly DefinitionProblem[],
  toMessage: (message: string) => string = TEXTS.UNPROCESSABLE_ENTITY.definition,
): ApiError {
  const [first] = problems;
  return new ApiError("UNPROCESSABLE_ENTITY", {
    ...(first ? { message: toMessage(first.message) } : {}),
    details: { errors: problems },
  });
}

/** Like `readWritten`, but throws the error. */
export async function requireDocument(
  work: DocumentWork,
  yaml: string,
  expected: ExpectedDocument,
): Promise<WrittenDocument> {
  const outcome = await readWritten(work, yaml, expected);
  if (outcome.ok) return outcome.document;
  throw outcome.error;
}

export interface EditedDocument {
  document: WrittenDocument;
  /** An ALIAS_REPLACED warning for each alias that no longer has its anchor's value. */
  warnings: Warning[];
}

/**
 * Writes fields into a document and qualifies its references to `names`. All other bytes stay the same. Throws
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
  const warnings = edited.replacedAliases.map((place) => {
    return { code: "ALIAS_REPLACED" as const, details: {}, ...place };
  });
  return { document, warnings };
}

function invalidText(yaml: string): ApiError | null {
  if (yaml.trim() === "") return invalidField("yaml", "must not be blank");
  if (Buffer.byteLength(yaml) <= MAX_DEFINITION_BYTES) return null;
  const message = TEXTS.PAYLOAD_TOO_LARGE.yaml(MAX_DEFINITION_BYTES);
  return new ApiError("PAYLOAD_TOO_LARGE", { message, details: { maxSize: MAX_DEFINITION_BYTES } });
}

/** Returns the document worker for a read request. Anonymous callers on the same network share a queue. */
export function readerWork(documents: Documents, request: Request): DocumentWork {
  const { caller, network } = requestContext(request);
  return documents.forCaller(caller?.userId ?? network);
}

export function runtimeOf({ content }: WrittenDocument): DefinitionRuntime {
  const { runtimeMd, promptHash, translatorVersion, translationError } = content;
  return { runtimeMd, promptHash, translatorVersion, translationError };
}

/** Throws UNPROCESSABLE_ENTITY for fields of a body that are too long for a document. */
export function rejectLongFields(fields: Readonly<Record<string, string | undefined>>): void {
  const errors = Object.entries(fields).flatMap(([path, text]) => {
    const message = text === undefined ? null : tooLong(path, text);
    return message === null ? [] : [{ path, message }];
  });
  const [first] = errors;
  if (first) throw new ApiError("UNPROCESSABLE_ENTITY", { message: first.message, details: { errors } });
}
