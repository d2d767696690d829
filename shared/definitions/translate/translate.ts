/** Translates a parsed definition to the Markdown that coding agents read. Pure: the same input gives the same bytes. */
import type { DefinitionType } from "../../vocabulary.ts";
import { digest } from "../hash_definition.ts";
import { renderAgent } from "./agent.ts";
import { renderCommand } from "./command.ts";
import { collapse } from "./inline.ts";
import { readSource, type Source, type TranslatableDefinition } from "./markdown_file.ts";
import { MAX_RENDERED_BYTES, markdownTooLarge } from "./markdown_writer.ts";
import { renderPipeline } from "./pipeline.ts";
import { TranslationFailure, type TranslationFailureReason } from "./translation_failure.ts";
import { renderWorkflow } from "./workflow.ts";

/**
 * The version of the translator. Increase it whenever a definition would be rendered differently. A test requires it if golden
 * files change.
 */
export const TRANSLATOR_VERSION = "1.2.8";

/** The reason why a definition cannot be rendered. */
export interface FailedTranslation {
  /** `internal` means a bug in the translator. All other reasons are problems of the document. */
  reason: TranslationFailureReason | "internal";
  /** The path in the document, starting with its root key. */
  path: string;
  message: string;
}

export type Translation =
  | { ok: true; runtimeMd: string; promptHash: string; translatorVersion: string }
  | {
      ok: false;
      failures: [FailedTranslation, ...FailedTranslation[]];
      /** The error that was thrown, if the reason is `internal`. */
      fault?: unknown;
    };

const RENDERERS: Readonly<Record<DefinitionType, (source: Source) => string>> = {
  agent: renderAgent,
  command: renderCommand,
  workflow: renderWorkflow,
  pipeline: renderPipeline,
};

/** Translates a definition. Never throws. `promptHash` is `sha256:` and the hex digest of `runtimeMd` in UTF-8. */
export function translateDefinition(definition: TranslatableDefinition): Translation {
  const { type } = definition;
  try {
    const runtimeMd = render(definition);
    if (Buffer.byteLength(runtimeMd) > MAX_RENDERED_BYTES) throw markdownTooLarge();
    return { ok: true, runtimeMd, promptHash: digest(runtimeMd), translatorVersion: TRANSLATOR_VERSION };
  } catch (error) {
    if (error instanceof TranslationFailure) {
      const others = error.others.map((other) => toFailure(other, type));
      return { ok: false, failures: [toFailure(error, type), ...others] };
    }
    const message = `The translator stopped: ${error instanceof Error ? error.message : "unknown cause"}`;
    return { ok: false, failures: [{ reason: "internal", path: type, message }], fault: error };
  }
}

/**
 * Renders a definition. Every type needs a description for the front matter. If it is missing, the failure also contains the
 * failures of the renderer.
 */
function render(definition: TranslatableDefinition): string {
  const { type } = definition;
  const source = readSource(definition);
  if (collapse(source.description) !== "") return RENDERERS[type](source);
  const path = `${type}.interface.description`;
  const missing = new TranslationFailure("missing_description", path, "The interface has no description");
  try {
    RENDERERS[type](source);
  } catch (error) {
    if (!(error instanceof TranslationFailure)) throw error;
    missing.others = [error, ...error.others];
  }
  throw missing;
}

function toFailure({ reason, path, message }: TranslationFailure, type: DefinitionType): FailedTranslation {
  return { reason, path: path || type, message };
}
