/**
 * Text within one line of Markdown, and functions that combine such text. An author's text becomes `Inline` only through the
 * functions of this file, or a `Passage` through those of `passage.ts`. The compiler therefore rejects text that is not
 * escaped.
 */

/** Markdown for a part of a line. It has no line breaks, and cannot open or close the translator's own markup. */
export type Inline = string & { readonly inline: unique symbol };

/**
 * An author's text of several lines. It may contain paragraphs, lists and fences, which all end within the passage. It cannot
 * be part of a heading or a table cell.
 */
export interface Passage {
  /** The first line; empty if the passage starts with a list or a fence. */
  readonly lead: Inline;
  /** The other lines, at least one. They are written at the indentation of the first line. */
  readonly below: readonly string[];
}

/** An author's prose, of one or several lines. */
export type Prose = Inline | Passage;

/** Template for the translator's own text. The values must be escaped already. Returns null if any value is null. */
export function md(parts: TemplateStringsArray, ...values: readonly (Inline | number)[]): Inline;
export function md(parts: TemplateStringsArray, ...values: readonly (Prose | number)[]): Prose;
export function md(
  parts: TemplateStringsArray,
  ...values: readonly (Inline | number | null)[]
): Inline | null;
export function md(parts: TemplateStringsArray, ...values: readonly (Prose | number | null)[]): Prose | null;
export function md(parts: TemplateStringsArray, ...values: readonly (Prose | number | null)[]): Prose | null {
  if (values.includes(null)) return null;
  if (!values.some((value) => typeof value === "object"))
    return String.raw({ raw: parts }, ...values) as Inline;
  const pieces = parts.flatMap((part, index) => [part, values[index] ?? ""]);
  return compose(pieces.map((piece) => (typeof piece === "number" ? String(piece) : piece)));
}

/** Joins words and passages. Words may precede a passage in its paragraph, but words after a passage start a new paragraph. */
function compose(pieces: readonly (string | Passage)[]): Prose {
  let lines: readonly string[] = [];
  let words = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      words += piece;
      continue;
    }
    const { lead, below } = piece;
    const [first = ""] = below;
    lines = startParagraph(lines, lead === "" ? introduce(words) : words, lead);
    // A numbered list that does not start with 1 must follow a blank line.
    if (lead === "" && lines.at(-1) !== "" && /^\d/.test(first) && !first.startsWith("1) "))
      lines = [...lines, ""];
    lines = [...lines, ...below];
    words = "";
  }
  const isOver = /^[\s,;:–.]*$/.test(words);
  const [lead = "", ...below] = isOver ? lines : startParagraph(lines, words, "");
  return { lead: lead as Inline, below };
}

/** Returns the previous lines and the first line of a new paragraph, or a blank line if a list or a fence follows. */
function startParagraph(before: readonly string[], words: string, lead: string): readonly string[] {
  if (before.length === 0) return [`${words}${lead}`];
  const first = `${words.replace(/^[\s,;:–.]+/, "")}${lead}`;
  return first === "" ? [...before, ""] : [...before, "", escapeLineStart(first)];
}

/** Ends the words before a list or a fence with a colon. */
function introduce(words: string): string {
  const text = words.replace(/[\s,:–]+$/, "");
  return text === "" ? "" : `${text}:`;
}

/** Returns an author's prose on one line, with collapsed whitespace; null for blank or missing text. */
export function prose(text: string | null): Inline | null {
  const line = collapse(text ?? "");
  return line === "" ? null : (escapeMarkup(line, false) as Inline);
}

/** Returns an author's text as a bold label. */
export function strong(text: string | null): Inline | null {
  const line = collapse(text ?? "");
  return line === "" ? null : (`**${escapeMarkup(line, true)}**` as Inline);
}

/** Returns an author's text as a code span, with more backticks than the longest run in the text. */
export function code(text: string | null): Inline | null {
  const line = printable(text ?? "")
    .replace(/[\n\t\u2028\u2029]+/g, " ")
    .trim();
  if (line === "") return null;
  const ticks = "`".repeat(longestBacktickRun(line) + 1);
  // Some agents run a command after an exclamation mark and a backtick. The padding separates the two characters.
  const pad = /^`|[`!]$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}` as Inline;
}

/** Joins the parts that are not null. Returns `null` if all parts are null. */
export function join(parts: readonly (Inline | null)[], separator: string): Inline | null;
export function join(parts: readonly (Prose | null)[], separator: string): Prose | null;
export function join(parts: readonly (Prose | null)[], separator: string): Prose | null {
  const present = parts.filter((part) => part !== null);
  if (present.length === 0) return null;
  if (!present.some((part) => typeof part === "object")) return present.join(separator) as Inline;
  return compose(present.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
}

/** Returns a list in words, such as `a, b and c`. */
export function listed(parts: readonly (Inline | null)[], conjunction: "and" | "or" = "and"): Inline | null {
  const present = parts.filter((part) => part !== null);
  const last = present.pop();
  if (last === undefined) return null;
  return present.length === 0 ? last : (`${present.join(", ")} ${conjunction} ${last}` as Inline);
}

/** Adds a period if the sentence has no end. */
export function sentence(text: Inline | null): Inline | null;
export function sentence(text: Prose | null): Prose | null;
export function sentence(text: Prose | null): Prose | null {
  if (typeof text === "object") return text;
  return (/[.!?:…]["'”’)]?$/.test(text) ? text : `${text}.`) as Inline;
}

/** Returns the length of the longest run of backticks. */
export function longestBacktickRun(text: string): number {
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return longest;
}

/** Returns the text without lone surrogates, and without control characters except tab and line feed. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/(?![\n\t])\p{Cc}/gu, "");
}

/** Returns the text on one line. Every run of whitespace becomes one space. */
export function collapse(text: string): string {
  // A shortcut, because most text is already one clean line.
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text;
  return printable(text.replace(/[\v\f\u0085]/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}

const BLOCK_STARTS = "#-+*>~|_=[0123456789";

/** Escapes text at the start of a line that would start another kind of block. */
export function escapeLineStart(line: string): string {
  if (!BLOCK_STARTS.includes(line.charAt(0))) return line;
  // A bold label is not a bullet.
  if (/^\*\*[^*\s]/.test(line)) return line;
  const number = /^\d{1,9}(?=[.)](?:\s|$))/.exec(line);
  if (number) return `${number[0]}\\${line.slice(number[0].length)}`;
  const opensBlock =
    /^(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|~~~|\|)/.test(line) ||
    /^(?:-[-\s]*|_[_\s]*|\*[*\s]*|=[=\s]*)$/.test(line) ||
    (line.startsWith("[") && (line.includes("]:") || /^\[[ xX]?\](?:\s|$)/.test(line)));
  return opensBlock ? `\\${line}` : line;
}

const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Characters that `escapeMarkup` may have to escape. Most text contains none of them and is returned unchanged. */
const SUSPICIOUS = /[\\`<*{]/;

/**
 * Escapes HTML, backticks that do not open a code span, and asterisks in labels. The author's code spans, escapes and `{{ …
 * }}` templates stay unchanged.
 */
function escapeMarkup(line: string, isLabel: boolean): string {
  if (!SUSPICIOUS.test(line)) return line;
  const spans = findSpans(line, isLabel);
  let out = "";
  let at = 0;
  while (at < line.length) {
    const end = spans.get(at);
    if (end !== undefined) {
      out += line.slice(at, end);
      at = end;
      continue;
    }
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (char === "\\" && PUNCTUATION.test(next)) {
      out += char + next;
      at += 2;
      continue;
    }
    out += mustEscape(char, next, isLabel) ? `\\${char}` : char;
    at += 1;
  }
  return out;
}

function mustEscape(char: string, next: string, isLabel: boolean): boolean {
  if (char === "`") return true;
  if (char === "<") return /[A-Za-z/!?]/.test(next);
  // A backslash at the end would escape the text that the translator writes after it.
  if (char === "\\") return next === "";
  return isLabel && char === "*";
}

/** Returns the start and end of every code span and, outside labels, of every template. Finds each kind in one pass. */
function findSpans(line: string, isLabel: boolean): Map<number, number> {
  const spans = new Map<number, number>();
  addCodeSpans(line, spans);
  if (isLabel) return spans;
  for (const match of line.matchAll(/\{\{[^`{}]*\}\}|\{%[^`{}]*%\}/g)) {
    spans.set(match.index, match.index + match[0].length);
  }
  return spans;
}

function addCodeSpans(line: string, spans: Map<number, number>): void {
  const runs = [...line.matchAll(/`+/g)].map((match) => ({ at: match.index, length: match[0].length }));
  const positions = Map.groupBy(runs, (run) => run.length);
  let free = 0;
  for (const run of runs) {
    if (run.at < free || isEscaped(line, run.at)) continue;
    const same = positions.get(run.length) ?? [];
    // Runs are processed in order, so earlier runs are no longer needed.
    while (same[0] !== undefined && same[0].at <= run.at) same.shift();
    const close = same[0];
    if (close === undefined) continue;
    free = close.at + close.length;
    spans.set(run.at, free);
  }
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line.charAt(at - 1 - backslashes) === "\\") backslashes++;
  return backslashes % 2 === 1;
}
