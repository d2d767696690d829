/** Parses a document once and derives everything that the registry stores or reports about it. */

import { hashDefinition } from "../../shared/definitions/hash_definition.ts";
import { TOOLS } from "../../shared/definitions/language/agent_keys.ts";
import { checkKeys, type KeyWarning } from "../../shared/definitions/language/check_keys.ts";
import { type DefinitionSource, parseDefinition } from "../../shared/definitions/parse_definition.ts";
import { type DefinitionReference, listReferences } from "../../shared/definitions/references.ts";
import { type FailedTranslation, translateDefinition } from "../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { YamlDocument } from "../../shared/yaml/document.ts";
import { type DefinitionProblem, formatPath } from "../../shared/yaml/problems.ts";
import type { DefinitionContent } from "../../sql/definitions/fields.ts";
import { listNamedModels, listNamedTools, type NamedText } from "./named_models_and_tools.ts";
import { type SafetyScan, scanDefinition } from "./safety_scan.ts";

/** A line and column in a text, counted from 1. */
interface TextPosition {
  line: number;
  column: number;
}

/** A name in a document, with its path and position. */
export interface PlacedName extends TextPosition {
  text: string;
  path: string;
}

/** A reference, with its path and position in the document. */
interface PlacedReference extends DefinitionReference, TextPosition {
  path: string;
}

/** An internal bug that a document triggered. Contains no text of the document, because the document may be private. */
export interface DocumentFault {
  part: "translator" | "safety scan";
  /** Name of the error's class. */
  error: string;
  stack: string[];
}

/** A parsed document. Contains only plain values, because threads exchange it as JSON. */
export interface ReadDocument {
  type: DefinitionType;
  name: string;
  version: string;
  /** All stored columns except the YAML. */
  content: Omit<DefinitionContent, "yaml">;
  references: PlacedReference[];
  /** All reasons why the document cannot be rendered. */
  failures: FailedTranslation[];
  faults: DocumentFault[];
  /** Warnings about keys and values that may be mistakes. */
  keyWarnings: KeyWarning[];
  /** The safety scan; null if the scan failed. */
  scan: SafetyScan | null;
  /** Models that the document names, without duplicates, up to `MAX_NAMES`. */
  models: PlacedName[];
  /** Tools that the document names but the language lacks, without duplicates, up to `MAX_NAMES`. */
  unknownTools: PlacedName[];
  /** Positions of the failures and scan signals, by path. */
  positions: Record<string, TextPosition>;
}

export type DocumentReading =
  | { ok: true; document: ReadDocument }
  | { ok: false; problems: DefinitionProblem[] }
  /** The document is valid, but its name differs from the expected one. */
  | ({ ok: false; otherName: string } & TextPosition);

/** Maximum references of a new document. All are stored and resolved. A few aliases can create tens of thousands. */
export const MAX_DOCUMENT_REFERENCES = 5_000;
/** Maximum names per document, because each unknown name is compared with the whole catalog. */
const MAX_NAMES = 10;

/**
 * Parses a definition. A null `type` or `name` accepts any. A document with another name is not processed further. Stored
 * documents may exceed the limits of new documents.
 */
export function readDocument(options: {
  type: DefinitionType | null;
  name: string | null;
  yaml: string;
  isStored?: boolean | undefined;
}): DocumentReading {
  const parsed = parseDefinition(options.yaml, { type: options.type, isNew: !options.isStored });
  if (!parsed.ok) return parsed;
  const { source, document } = parsed;
  const { locate } = document;
  const { type, name, version, fields } = source;
  if (options.name !== null && name !== options.name)
    return { ok: false, otherName: name, ...locate([type, "interface", "name"]) };
  const references = listReferences(source);
  const excess = options.isStored ? undefined : references[MAX_DOCUMENT_REFERENCES];
  if (excess !== undefined) {
    const message = `A document may have at most ${MAX_DOCUMENT_REFERENCES.toLocaleString("en")} references to definitions.`;
    return { ok: false, problems: [{ path: formatPath(excess.path), message, ...locate(excess.path) }] };
  }
  const faults: DocumentFault[] = [];
  const { failures, ...runtime } = render(source, faults);
  const found = scan(source, faults);
  const signals = found?.signals ?? [];
  const paths = [...failures.map(({ path }) => path), ...signals.map(({ location }) => location)];
  return {
    ok: true,
    document: {
      type,
      name,
      version,
      content: { hash: hashDefinition(source.root), ...fields, ...runtime },
      references: references.map(({ path, ...reference }) => {
        return { ...reference, path: formatPath(path), ...locate(path) };
      }),
      failures,
      faults,
      keyWarnings: checkKeys(source, document),
      scan: found,
      models: placeNames(listNamedModels(source), locate),
      unknownTools: placeNames(listNamedTools(source).filter(isUnknownTool), locate),
      positions: Object.fromEntries(paths.map((path) => [path, locate(parsePath(path))])),
    },
  };
}

function isUnknownTool({ text }: NamedText): boolean {
  return !TOOLS.some((tool) => tool === text);
}

function placeNames(names: readonly NamedText[], locate: YamlDocument["locate"]): PlacedName[] {
  const first = new Map<string, NamedText>();
  for (const name of names) if (!first.has(name.text)) first.set(name.text, name);
  return [...first.values()]
    .slice(0, MAX_NAMES)
    .map(({ text, path }) => ({ text, path: formatPath(path), ...locate(path) }));
}

/** Splits a path such as `agent.tags[0]` into steps. Keys that contain `.` or brackets are located at their nearest ancestor. */
function parsePath(path: string): (string | number)[] {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  return steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function render({ type, name, version, body }: DefinitionSource, faults: DocumentFault[]) {
  const translation = translateDefinition({ type, name, version, body });
  if (!translation.ok) {
    const { failures, fault } = translation;
    if (fault !== undefined) faults.push(describeFault("translator", fault));
    const [{ reason, path }] = failures;
    const none = { runtimeMd: null, promptHash: null, translatorVersion: null };
    return { ...none, translationError: { reason, path }, failures };
  }
  const { ok: _, ...runtime } = translation;
  return { ...runtime, translationError: null, failures: [] };
}

/** Scans for misuse. A failed scan becomes a warning, not an error. */
function scan(source: DefinitionSource, faults: DocumentFault[]): SafetyScan | null {
  try {
    return scanDefinition(source);
  } catch (error) {
    faults.push(describeFault("safety scan", error));
    return null;
  }
}

function describeFault(part: DocumentFault["part"], thrown: unknown): DocumentFault {
  const error = thrown instanceof Error ? thrown : new Error();
  // Removes the message, which precedes the stack frames and may quote the document.
  const calls = (error.stack ?? "").replace(error.message, "").split("\n");
  return {
    part,
    error: error.name,
    stack: calls.map((call) => call.trim()).filter((call) => call.startsWith("at ")),
  };
}
