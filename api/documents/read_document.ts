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

/** Line and column in a text, from 1. */
interface TextPosition {
  line: number;
  column: number;
}

/** A text of a document, with its place. */
export interface PlacedName extends TextPosition {
  text: string;
  path: string;
}

/** A reference, with the place of its text. */
interface PlacedReference extends DefinitionReference, TextPosition {
  path: string;
}

/** A bug of ours that a document has met, without any text of the document: it may be private. */
export interface DocumentFault {
  part: "translator" | "safety scan";
  /** Name of the error's class. */
  error: string;
  stack: string[];
}

/** Plain values only, because they cross threads as JSON. */
export interface ReadDocument {
  type: DefinitionType;
  name: string;
  version: string;
  /** All stored columns except the text. */
  content: Omit<DefinitionContent, "yaml">;
  references: PlacedReference[];
  /** Everything that keeps the document from being rendered. */
  failures: FailedTranslation[];
  faults: DocumentFault[];
  /** Warnings about what the author may have meant differently. */
  keyWarnings: KeyWarning[];
  /** Null if the scan itself failed. */
  scan: SafetyScan | null;
  /** Models that it names, each once; the first `MAX_NAMES`. */
  models: PlacedName[];
  /** Tools that it names and the language does not have, likewise. */
  unknownTools: PlacedName[];
  /** Positions of the failures and of the scan's signals, by their paths. */
  positions: Record<string, TextPosition>;
}

export type DocumentReading =
  | { ok: true; document: ReadDocument }
  | { ok: false; problems: DefinitionProblem[] }
  /** The document is valid but has a name other than the expected one. */
  | ({ ok: false; otherName: string } & TextPosition);

/** Each is stored, and resolved whenever the definition is. A few aliases make tens of thousands of a small text. */
export const MAX_DOCUMENT_REFERENCES = 5_000;
/** Each unknown name is compared with the whole catalog. */
const MAX_NAMES = 10;

/**
 * Parses a definition; null accepts any type or name. A document with another name is not processed further. New
 * documents have limits that stored ones may exceed.
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

/** Returns the steps of `agent.tags[0]`. Steps that are no plain keys end at the nearest ancestor that is found. */
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
  // The message may quote the document; it stands before the calls.
  const calls = (error.stack ?? "").replace(error.message, "").split("\n");
  return {
    part,
    error: error.name,
    stack: calls.map((call) => call.trim()).filter((call) => call.startsWith("at ")),
  };
}
