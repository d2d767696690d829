/** From the YAML that a client sends to what is stored of it. */
import { MAX_DEFINITION_BYTES } from "../../shared/definition_source.ts";
import { ApiError } from "../../shared/errors.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { DefinitionRuntime } from "../../sql/definition_changes.ts";
import type { DefinitionContent } from "../../sql/definitions.ts";
import type { Pool } from "../../sql/pool.ts";
import type { Documents } from "../documents/documents.ts";
import type { ReadDocument } from "../documents/read_document.ts";
import { refuseInput } from "../validation_problems.ts";

/** What the functions of the registry work with. */
export interface DefinitionDeps {
  sql: Pool;
  documents: Documents;
}

/** A document with its text: everything that a version is made of. */
export interface WrittenDocument extends Omit<ReadDocument, "content"> {
  content: DefinitionContent;
}

/**
 * Reads a document that is to stand under a path. Throws VALIDATION_ERROR when there is no text, PAYLOAD_TOO_LARGE,
 * UNPROCESSABLE_ENTITY with every problem there is, or NAME_MISMATCH.
 */
export async function requireDocument(
  documents: Documents,
  yaml: string,
  path: { type: DefinitionType; name: string },
): Promise<WrittenDocument> {
  if (yaml.trim() === "") throw refuseInput([{ path: "yaml", message: "must be the text of a document" }]);
  if (Buffer.byteLength(yaml) > MAX_DEFINITION_BYTES) {
    throw new ApiError("PAYLOAD_TOO_LARGE", {
      message: `Cannot accept a document this large: the most is ${MAX_DEFINITION_BYTES} bytes of UTF-8`,
      details: { maxSize: MAX_DEFINITION_BYTES },
    });
  }
  const reading = await documents.read({ type: path.type, yaml });
  if (!reading.ok) {
    const [first] = reading.problems;
    throw new ApiError("UNPROCESSABLE_ENTITY", {
      ...(first ? { message: `Cannot make a definition of this: ${first.message}` } : {}),
      details: { errors: reading.problems },
    });
  }
  const { document } = reading;
  if (document.name === path.name) return { ...document, content: { yaml, ...document.content } };
  throw new ApiError("NAME_MISMATCH", {
    message: `Cannot accept the document: its name is "${document.name}", the path says "${path.name}"`,
    details: { documentName: document.name, pathName: path.name },
  });
}

/** What a document was rendered to. */
export function runtimeOf({ content }: WrittenDocument): DefinitionRuntime {
  const { runtimeMd, promptHash, translatorVersion, translationError } = content;
  return { runtimeMd, promptHash, translatorVersion, translationError };
}
