/** From the YAML that a client sends to what is stored of it. */
import {
  type DefinitionSource,
  MAX_DEFINITION_BYTES,
  parseDefinition,
} from "../../shared/definition_source.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Translation, translateDefinition } from "../../shared/translate/translate.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { DefinitionRuntime } from "../../sql/definition_changes.ts";
import type { DefinitionContent } from "../../sql/definitions.ts";
import { refuseInput } from "../validation_problems.ts";

/**
 * Parses a document that is to stand under a path. Throws VALIDATION_ERROR when there is no text, PAYLOAD_TOO_LARGE,
 * UNPROCESSABLE_ENTITY with every problem there is, or NAME_MISMATCH.
 */
export function readDocument(yaml: string, path: { type: DefinitionType; name: string }): DefinitionSource {
  if (yaml.trim() === "") throw refuseInput([{ path: "yaml", message: "must be the text of a document" }]);
  if (Buffer.byteLength(yaml) > MAX_DEFINITION_BYTES) {
    throw new ApiError("PAYLOAD_TOO_LARGE", {
      message: `Cannot accept a document this large: the most is ${MAX_DEFINITION_BYTES} bytes of UTF-8`,
      details: { maxSize: MAX_DEFINITION_BYTES },
    });
  }
  const parsed = parseDefinition(yaml, { type: path.type });
  if (!parsed.ok) {
    const [first] = parsed.problems;
    throw new ApiError("UNPROCESSABLE_ENTITY", {
      ...(first ? { message: `Cannot make a definition of this: ${first.message}` } : {}),
      details: { errors: parsed.problems },
    });
  }
  const { source } = parsed;
  if (source.name === path.name) return source;
  throw new ApiError("NAME_MISMATCH", {
    message: `Cannot accept the document: its name is "${source.name}", the path says "${path.name}"`,
    details: { documentName: source.name, pathName: path.name },
  });
}

/** A document's rendering as it is stored, and what it came to. */
export function renderDocument(source: DefinitionSource): DefinitionRuntime & { translation: Translation } {
  const { type, name, version, body } = source;
  const translation = translateDefinition({ type, name, version, body });
  if (!translation.ok) {
    const { reason, path } = translation;
    const none = { runtimeMd: null, promptHash: null, translatorVersion: null };
    return { ...none, translationError: { reason, path }, translation };
  }
  const { runtimeMd, promptHash, translatorVersion } = translation;
  return { runtimeMd, promptHash, translatorVersion, translationError: null, translation };
}

/** Everything that is stored of a document. */
export function contentOf(yaml: string, source: DefinitionSource): DefinitionContent {
  const { runtimeMd, promptHash, translatorVersion, translationError } = renderDocument(source);
  const { displayName, description, domain, subdomain, agentType, author, tags } = source.fields;
  return {
    yaml,
    hash: source.hash,
    displayName,
    description,
    domain,
    subdomain,
    agentType,
    author,
    tags,
    runtimeMd,
    promptHash,
    translatorVersion,
    translationError,
  };
}
