/** Checks references to other definitions, and formats them for the rendered text. */
import { scalarText } from "../../yaml/scalars.ts";
import { parseReference } from "../references.ts";
import { RANGE_FORMS } from "../version_range.ts";
import { code, type Inline } from "./inline.ts";
import { TranslationFailure } from "./translation_failure.ts";

/** Returns `name@range` or `@org/name@range` as code. Fails with `bad_reference` for any other form. */
export function readReference(value: unknown, path: string): Inline {
  const text = referenceText(value, path);
  if (parseReference(text) === null) {
    throw badReference(
      path,
      `A reference is a name, an at sign and a range, such as @acme/reviewer@^1.2.3. A range is ${RANGE_FORMS}`,
    );
  }
  return readPipelineReference(text, path);
}

/** Returns a reference of a pipeline as code. Pipelines accept any text. */
export function readPipelineReference(value: unknown, path: string): Inline {
  const reference = code(referenceText(value, path));
  if (reference === null) throw badReference(path, "A reference must be visible text");
  return reference;
}

function referenceText(value: unknown, path: string): string {
  const text = scalarText(value);
  if (text !== null) return text.trim();
  throw badReference(path, "A reference must be text");
}

function badReference(path: string, message: string): TranslationFailure {
  return new TranslationFailure("bad_reference", path, message);
}
