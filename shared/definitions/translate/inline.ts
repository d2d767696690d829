/**
 * Text within one line of Markdown, and what is put together from it. Author's text becomes `Inline` through the functions
 * here, or a `Passage` through those of `passage.ts`, and in no other way, so the compiler refuses text that is not escaped.
 */

/** Markdown for part of a line: no line break, nothing that would open or close a construct of ours. */
export type Inline = string & { readonly inline: unique symbol };

/**
 * Author's text of several lines. It may hold paragraphs, lists and fences, all of which end within it. It cannot be
 * part of a heading or a table cell.
 */
export interface Passage {
  /** The first line; empty if the passage begins with a list or a fence. */
  readonly lead: Inline;
  /** The other lines, one at least, as they are written at the indentation of the first. */
  readonly below: readonly string[];
}

/** Author's prose: of one line, or of several. */
export type Prose = Inline | Passage;

/** Template for our own words; what is put in is escaped already. Null if any of it is null. */
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

/** A passage may follow words, but what follows a passage is a paragraph of its own. */
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
    // Only a list that begins with 1 may follow a paragraph without a blank line.
    if (lead === "" && lines.at(-1) !== "" && /^\d/.test(first) && !first.startsWith("1) "))
      lines = [...lines, ""];
    lines = [...lines, ...below];
    words = "";
  }
  const isOver = /^[\s,;:–.]*$/.test(words);
  const [lead = "", ...below] = isOver ? lines : startParagraph(lines, words, "");
  return { lead: lead as Inline, below };
}

/** The lines before and the first line of a paragraph, or a blank line if a list or a fence comes next. */
function startParagraph(before: readonly string[], words: string, lead: string): readonly string[] {
  if (before.length === 0) return [`${words}${lead}`];
  const first = `${words.replace(/^[\s,;:–.]+/, "")}${lead}`;
  return first === "" ? [...before, ""] : [...before, "", escapeLineStart(first)];
}

/** Ends words before a list or a fence with a colon. */
function introduce(words: string): string {
  const text = words.replace(/[\s,:–]+$/, "");
  return text === "" ? "" : `${text}:`;
}

/** Author's prose in one line, its white space collapsed; null for blank text and for none. */
export function prose(text: string | null): Inline | null {
  const line = collapse(text ?? "");
  return line === "" ? null : (escapeMarkup(line, false) as Inline);
}

/** Author's text as a bold label. */
export function strong(text: string | null): Inline | null {
  const line = collapse(text ?? "");
  return line === "" ? null : (`**${escapeMarkup(line, true)}**` as Inline);
}

/** Author's text to be taken literally, between more backticks than it holds in a row. */
export function code(text: string | null): Inline | null {
  const line = printable(text ?? "")
    .replace(/[\n\t\u2028\u2029]+/g, " ")
    .trim();
  if (line === "") return null;
  const ticks = "`".repeat(longestBacktickRun(line) + 1);
  // An exclamation mark before a backtick makes some agents run what follows: the padding keeps them apart.
  const pad = /^`|[`!]$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}` as Inline;
}

/** Joins what is there; `null` when nothing is. */
export function join(parts: readonly (Inline | null)[], separator: string): Inline | null;
export function join(parts: readonly (Prose | null)[], separator: string): Prose | null;
export function join(parts: readonly (Prose | null)[], separator: string): Prose | null {
  const present = parts.filter((part) => part !== null);
  if (present.length === 0) return null;
  if (!present.some((part) => typeof part === "object")) return present.join(separator) as Inline;
  return compose(present.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
}

/** `a, b and c`. */
export function listed(parts: readonly (Inline | null)[], conjunction: "and" | "or" = "and"): Inline | null {
  const present = parts.filter((part) => part !== null);
  const last = present.pop();
  if (last === undefined) return null;
  return present.length === 0 ? last : (`${present.join(", ")} ${conjunction} ${last}` as Inline);
}

/** Ends a sentence that the author left open. */
export function sentence(text: Inline | null): Inline | null;
export function sentence(text: Prose | null): Prose | null;
export function sentence(text: Prose | null): Prose | null {
  if (typeof text === "object") return text;
  return (/[.!?:…]["'”’)]?$/.test(text) ? text : `${text}.`) as Inline;
}

/** Length of the longest row of backticks. */
export function longestBacktickRun(text: string): number {
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return longest;
}

/** Text without lone surrogates and without control characters other than tab and line feed. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/(?![\n\t])\p{Cc}/gu, "");
}

/** One line: every run of white space becomes one space. */
export function collapse(text: string): string {
  // Most text is one clean line already.
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text;
  return printable(text.replace(/[\v\f\u0085]/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}

const BLOCK_STARTS = "#-+*>~|_=[0123456789";

/** Escapes what would begin another kind of block if the finished line stood at the start of one. */
export function escapeLineStart(line: string): string {
  if (!BLOCK_STARTS.includes(line.charAt(0))) return line;
  // A bold label is no bullet.
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
/** What `escapeMarkup` has to look at; most text has none of it and is returned as it is. */
const SUSPICIOUS = /[\\`<*{]/;

/**
 * Escapes HTML, backticks that open no code span of their own and, in a label, asterisks. Code spans, escapes and
 * `{{ … }}` templates of the author are left as they are.
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
  // A last backslash would escape whatever we write behind it.
  if (char === "\\") return next === "";
  return isLabel && char === "*";
}

/** Start → end of every code span and template, found in one pass each. */
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
    // Runs are taken in order, so those before this one are done with.
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
