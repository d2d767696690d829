/** The response fields of `normalize=true`: the canonical text of a document, and the same as an object. */

import { parseDefinition } from "../../shared/definitions/source.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { normalizeDefinition } from "./normal_form.ts";

/** Normalizes a document. Without `includeYaml`, the text is left out. If it cannot be normalized, the original text and the reason are returned. */
export function normalizeDocument(options: {
  type: DefinitionType;
  yaml: string;
  includeYaml: boolean;
}): object {
  const { yaml, ...rest } = normalize(options);
  return { ...(options.includeYaml ? { yaml } : {}), ...rest };
}

function normalize({ type, yaml }: { type: DefinitionType; yaml: string }) {
  const parsed = parseDefinition(yaml, { type });
  const result = parsed.ok
    ? normalizeDefinition(parsed.source)
    : { ok: false as const, message: parsed.problems[0]?.message ?? "the document does not parse" };
  if (!result.ok) return { yaml, normalized: null, normalizationError: result.message };
  return { yaml: result.yaml, normalized: result.normalized };
}
