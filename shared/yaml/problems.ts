/** Describes problems of a YAML text for the author. */
import type { LineCounter, YAMLError } from "yaml";
import { shorten } from "../characters.ts";

/** A problem that the author must fix. */
export interface DefinitionProblem {
  /** The path in the document, such as `agent.interface.version`; `yaml` for the whole document. */
  path: string;
  message: string;
  /** The line and column, counted from 1; absent if the problem has no position. */
  line?: number;
  column?: number;
}

/** The maximum number of problems, because a hostile text has tens of thousands. Further problems are dropped. */
export const MAX_PROBLEMS = 50;

/** The path that stands for the whole document. */
export const WHOLE_DOCUMENT = "yaml";

/** A step of a path: a map key, a list index, or the id of a list entry. */
export type PathStep = string | number | { readonly id: string };

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const MAX_KEY_LENGTH = 60;

/**
 * Formats a path: `["agent", "tags", 0]` becomes `agent.tags[0]`. Quotes keys and ids that are not plain names, and truncates
 * long ones.
 */
export function formatPath(steps: readonly PathStep[]): string {
  return steps.map(formatStep).join("").replace(/^\./, "") || WHOLE_DOCUMENT;
}

export function formatStep(step: PathStep): string {
  if (typeof step === "number") return `[${step}]`;
  const name = typeof step === "string" ? step : step.id;
  const short = shorten(name, MAX_KEY_LENGTH);
  if (!PLAIN_KEY.test(short)) return `[${JSON.stringify(short)}]`;
  return typeof step === "string" ? `.${short}` : `[${short}]`;
}

/** Adds the line and column of an offset to a problem. */
export function problemAt(
  lines: LineCounter,
  offset: number,
  problem: Pick<DefinitionProblem, "path" | "message">,
): DefinitionProblem {
  const { line, col } = lines.linePos(offset);
  return { ...problem, line, column: col };
}

/** The usual fixes, by the parser's error code. */
const HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'put quotes around a text that contains ": "',
  BAD_SCALAR_START: "put quotes around a text that begins with this character",
  TAB_AS_INDENT: "indent with spaces",
  BAD_INDENT: "keys of one block must begin in the same column",
  BAD_DQ_ESCAPE: "write a backslash as \\\\, or use single quotes",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line and followed by a colon",
  TAG_RESOLVE_FAILED: 'remove it, or put quotes around a text that begins with "!"',
  BAD_ALIAS: "put quotes around a text that begins with * or &",
  MULTIPLE_ANCHORS: "put quotes around a text that begins with * or &",
};

/** Error codes that quotes around the whole value usually fix. */
const MENDED_BY_QUOTES: ReadonlySet<string> = new Set([
  "BAD_ALIAS",
  "BAD_SCALAR_START",
  "BLOCK_AS_IMPLICIT_KEY",
  "MULTIPLE_ANCHORS",
  "TAG_RESOLVE_FAILED",
  "UNEXPECTED_TOKEN",
]);

/** The start of the parser's message about text after `|` or `>`. */
const NO_TOKEN = "Not a YAML token";
const BLOCK_HINT = "the text of a block begins on the next line, indented";

/** Describes a syntax error, with the usual fix or the corrected line if one is known. */
export function syntaxProblem(text: string, lines: LineCounter, error: YAMLError): DefinitionProblem {
  const [offset] = error.pos;
  const hint = error.message.startsWith(NO_TOKEN) ? BLOCK_HINT : HINTS[error.code];
  const quoted = MENDED_BY_QUOTES.has(error.code) ? quotedLine(text, offset) : null;
  const advice = [hint && `; ${hint}`, quoted && `. Write ${quoted}`].filter(Boolean).join("");
  return problemAt(lines, offset, {
    path: WHOLE_DOCUMENT,
    message: `The YAML cannot be parsed: ${error.message}${advice}`,
  });
}

/** A key or a list item with a value on the same line. */
const ENTRY = /^[ \t]*(?:- +)?([\w-]{1,60}:|-)[ \t]+(\S.*)$/;
/** Values that quotes would change: block scalars, lists and comments. */
const NO_PLAIN_TEXT = /^(?:[|>][-+\d]*(?:\s|$)|- |#)/;
const MAX_QUOTED_LENGTH = 120;

/** Returns the line at an offset with its value in quotes; null if the line has no value that can be quoted. */
function quotedLine(text: string, offset: number): string | null {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", start);
  const line = text.slice(start, end < 0 ? text.length : end);
  if (line.length > MAX_QUOTED_LENGTH) return null;
  const [, key, value = ""] = ENTRY.exec(line.trimEnd()) ?? [];
  if (key === undefined || NO_PLAIN_TEXT.test(value)) return null;
  const plain = value.replace(/\s+#.*$/, "");
  const inner = /^(["'])(.*)\1$/.exec(plain)?.[2];
  return `${key} ${JSON.stringify(inner ?? plain)}`;
}

/** A quoted template. Without the quotes, YAML reads `{{ x }}` as a map whose key is a map. */
const TEMPLATE = /^(?:-|[\w-]{1,60}:) "\{\{.*\}\}"$/;

/**
 * Returns advice for a key that is a map: the line with quotes, if the key is a template without quotes. Otherwise, returns
 * an empty text.
 */
export function templateAdvice(text: string, offset: number): string {
  const quoted = quotedLine(text, offset);
  return quoted !== null && TEMPLATE.test(quoted) ? ` Write ${quoted}` : "";
}

export function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return typeof value === "boolean"
    ? "true or false"
    : `a ${typeof value === "string" ? "text" : typeof value}`;
}

/** Quotes a value for messages. Long values are truncated. */
export function quoteValue(value: unknown): string {
  return shorten(JSON.stringify(value) ?? "", MAX_KEY_LENGTH);
}
