/** Reads paragraphs, lists and fences from an author's text, as CommonMark does, in time that grows with the text. */
import { collapse, printable, prose } from "./inline.ts";

/** Lists within lists; markers of deeper ones stay text. Bounds the time too: each level reads its lines once. */
const MAX_DEPTH = 8;
/** Columns; a line that is indented further is code. */
const CODE_INDENT = 4;

interface Paragraph {
  kind: "paragraph";
  /** Escaped, but for what has a meaning at the start of a line. */
  lines: string[];
}

interface Fence {
  kind: "fence";
  info: string;
  body: string[];
}

export interface Item {
  /** `* ` or `1) `: the translator's own lists have other markers, so they never continue an author's. */
  marker: string;
  blocks: Block[];
  isApart: boolean;
}

interface List {
  kind: "list";
  items: Item[];
}

export type Block = (Paragraph | Fence | List) & {
  /** True after a blank line. */
  isApart?: boolean;
};

/** True if nothing of the line is visible. */
export function isBlank(line: string): boolean {
  return !/[^\s\p{Cc}]/u.test(line);
}

/** Where a block begins: the column in the author's text, which tabs depend on, and the lists around it. */
interface Level {
  base: number;
  depth: number;
}

/** Reads the blocks of lines, outside of any list unless `level` says so. */
export function readBlocks(lines: readonly string[], level: Level = { base: 0, depth: 0 }): Block[] {
  const blocks: Block[] = [];
  let isApart = false;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (isBlank(line)) {
      isApart = true;
      at++;
      continue;
    }
    const { block, next } =
      readIndentedCode(lines, at, level) ??
      readFence(lines, at, level) ??
      readList(lines, at, level) ??
      readParagraph(lines, at, level);
    if (block !== null) blocks.push({ ...block, isApart });
    isApart &&= block === null;
    at = next;
  }
  return blocks;
}

/**
 * The block that begins at a line, null if nothing of it is visible, and the line behind it. Each reader returns null for a
 * line that begins no block of its kind.
 */
interface BlockRead {
  block: Paragraph | Fence | List | null;
  next: number;
}

function readParagraph(lines: readonly string[], at: number, level: Level): BlockRead {
  let next = at + 1;
  while (next < lines.length && continuesParagraph(lines[next] ?? "", level)) next++;
  return { block: { kind: "paragraph", lines: escapeLines(lines.slice(at, next)) }, next };
}

function continuesParagraph(line: string, level: Level): boolean {
  if (isBlank(line)) return false;
  if (indentOf(line, level.base).columns >= CODE_INDENT) return true;
  if (openFence(line, level.base) !== null) return false;
  const marker = readMarker(line, level);
  return marker === null || !endsParagraph(marker);
}

/** True for a bullet, and for a number if it is the first. */
function endsParagraph({ text, isEmpty }: Marker): boolean {
  return !isEmpty && (text === "* " || text === "1) ");
}

/** A line break of the author's own, two spaces or a backslash at the end of a line, becomes a backslash. */
function escapeLines(lines: readonly string[]): string[] {
  const escaped = lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    const hasBackslash = /(?<!\\)(?:\\\\)*\\$/.test(line.slice(-100));
    const isBroken = !isLast && (hasBackslash || line.endsWith("  "));
    const text = prose(isBroken && hasBackslash ? line.slice(0, -1) : line);
    return text === null ? [] : [isBroken ? `${text}\\` : text];
  });
  // A link definition may begin in a line before its colon, and only at the start of a paragraph.
  const [first = "", ...rest] = escaped;
  const mayDefine = first.startsWith("[") && rest.some((line) => line.includes("]:"));
  return [mayDefine ? `\\${first}` : first, ...rest];
}

function readIndentedCode(lines: readonly string[], at: number, { base }: Level): BlockRead | null {
  if (indentOf(lines[at] ?? "", base).columns < CODE_INDENT) return null;
  let next = at + 1;
  let end = next;
  while (next < lines.length) {
    const line = lines[next] ?? "";
    if (!isBlank(line) && indentOf(line, base).columns < CODE_INDENT) break;
    next++;
    if (!isBlank(line)) end = next;
  }
  const body = lines.slice(at, end).map((line) => printable(stripIndent(line, CODE_INDENT, base)));
  return { block: { kind: "fence", info: "", body }, next: end };
}

/** What opens a fence: its character, how many of them, its indentation and what stands behind it. */
interface FenceOpening {
  mark: string;
  columns: number;
  info: string;
}

function openFence(line: string, base: number): FenceOpening | null {
  if (!line.includes("```") && !line.includes("~~~")) return null;
  const match = /^[ \t]*(`{3,}|~{3,})(.*)$/s.exec(line);
  if (!match) return null;
  const [, mark = "", info = ""] = match;
  const { columns } = indentOf(line, base);
  if (columns >= CODE_INDENT || (mark.startsWith("`") && info.includes("`"))) return null;
  return { mark, columns, info };
}

function closesFence(line: string, { mark }: FenceOpening, base: number): boolean {
  const run = /^[ \t]*(`+|~+)[ \t]*$/.exec(line)?.[1] ?? "";
  return run.startsWith(mark) && indentOf(line, base).columns < CODE_INDENT;
}

/** A fence that the author left open ends with the passage, or with its list item. */
function readFence(lines: readonly string[], at: number, { base }: Level): BlockRead | null {
  const opening = openFence(lines[at] ?? "", base);
  if (opening === null) return null;
  let end = at + 1;
  while (end < lines.length && !closesFence(lines[end] ?? "", opening, base)) end++;
  const body = lines.slice(at + 1, end).map((line) => printable(stripIndent(line, opening.columns, base)));
  const block: Fence = { kind: "fence", info: cleanInfo(opening.info), body };
  return { block: body.every(isBlank) ? null : block, next: end + 1 };
}

/** A language and its options; other words could mean something to the agent that loads the file. */
function cleanInfo(info: string): string {
  const words = collapse(info);
  if (/^[\w+#.-][\w+#.,:=/"'{}()[\] -]{0,99}$/.test(words)) return words;
  return /^[\w+#.-]{1,40}(?= |$)/.exec(words)?.[0] ?? "";
}

/** The start of a list item. */
interface Marker {
  text: string;
  isEmpty: boolean;
  /** Columns before the marker, and before what follows it. */
  indent: number;
  content: number;
}

function readMarker(line: string, { base, depth }: Level): Marker | null {
  if (depth >= MAX_DEPTH) return null;
  const match = /^[ \t]*([-*+]|\d{1,9}[.)])(?=[ \t]|$)/.exec(line);
  const indent = indentOf(line, base).columns;
  const sign = match?.[1] ?? "";
  if (!match || indent >= CODE_INDENT || isRule(line, sign)) return null;
  const end = indent + sign.length;
  const rest = line.slice(match[0].length);
  const isEmpty = isBlank(rest);
  const gap = indentOf(rest, base + end).columns;
  const content = isEmpty || gap > CODE_INDENT ? end + 1 : end + gap;
  const text = sign.length === 1 ? "* " : `${sign.slice(0, -1)}) `;
  return { text, isEmpty, indent, content };
}

/** `---`, `* * *`: a line across the page, not a list. */
function isRule(line: string, sign: string): boolean {
  if (sign !== "-" && sign !== "*") return false;
  const signs = line.replace(/[ \t]+/g, "");
  return signs.length >= 3 && signs === sign.repeat(signs.length);
}

function isOrdered(marker: Marker): boolean {
  return marker.text !== "* ";
}

function readList(lines: readonly string[], at: number, level: Level): BlockRead | null {
  let marker = readMarker(lines[at] ?? "", level);
  if (marker === null) return null;
  const items: Item[] = [];
  let next = at;
  let isApart = false;
  while (true) {
    const item = readItem(lines, next, { ...level, marker });
    const inside = { base: level.base + marker.content, depth: level.depth + 1 };
    const blocks = readBlocks(item.lines, inside);
    if (blocks.length > 0) items.push({ marker: marker.text, blocks, isApart });
    next = item.end;
    let start = next;
    while (start < lines.length && isBlank(lines[start] ?? "")) start++;
    const following = readMarker(lines[start] ?? "", level);
    if (following === null || isOrdered(following) !== isOrdered(marker)) break;
    isApart = start > next;
    next = start;
    marker = following;
  }
  return { block: items.length === 0 ? null : { kind: "list", items }, next };
}

/** The lines of an item without its indentation, and where they end: before blank lines that belong to no item. */
function readItem(
  lines: readonly string[],
  at: number,
  level: Level & { marker: Marker },
): { lines: string[]; end: number } {
  const { base, depth, marker } = level;
  const item = new ItemLines({ base: base + marker.content, depth: depth + 1 });
  item.add(behindMarker(lines[at] ?? "", marker, base));
  let end = at + 1;
  if (marker.isEmpty && isBlank(lines[end] ?? "")) return { lines: [], end };
  for (let next = end; next < lines.length; next++) {
    const line = lines[next] ?? "";
    if (isBlank(line)) continue;
    const inside = lineInside(line, level, next === end ? item.lazyIndent : null);
    if (inside === null) break;
    for (; end < next; end++) item.add(stripIndent(lines[end] ?? "", marker.content, base));
    item.add(inside);
    end = next + 1;
  }
  return { lines: item.lines, end };
}

/** The line without the item's indentation; null if it is not part of the item. A lazy line gets `lazyIndent`. */
function lineInside(
  line: string,
  { marker, ...level }: Level & { marker: Marker },
  lazyIndent: string | null,
): string | null {
  if (indentOf(line, level.base).columns >= marker.content)
    return stripIndent(line, marker.content, level.base);
  const beginsBlock = openFence(line, level.base) !== null || readMarker(line, level) !== null;
  return lazyIndent !== null && !beginsBlock ? `${lazyIndent}${line.trimStart()}` : null;
}

/** The lines of an item, and what is open after them, even inside nested lists: a paragraph, a fence, or neither. */
class ItemLines {
  readonly lines: string[] = [];
  /** Columns where the contents of the open lists begin, outermost first. */
  readonly #columns: number[] = [0];
  readonly #level: Level;
  #fence: FenceOpening | null = null;
  isParagraph = false;

  constructor(level: Level) {
    this.#level = level;
  }

  add(line: string): void {
    this.lines.push(line);
    if (isBlank(line)) {
      this.isParagraph = false;
      return;
    }
    const { columns } = indentOf(line, this.#level.base);
    if (this.#fence !== null && columns >= this.#column) {
      if (closesFence(this.#inside(line), this.#fence, this.#level.base + this.#column)) this.#fence = null;
      return;
    }
    this.#fence = null;
    while (columns < this.#column) this.#columns.pop();
    this.#readStart(this.#inside(line));
  }

  /**
   * Before a line that goes on with the open paragraph: so deep in its lists that it begins no block of its own. Null without
   * one. Tabs, because each list reads the indentation again.
   */
  get lazyIndent(): string | null {
    return this.isParagraph ? "\t".repeat(Math.ceil(this.#column / CODE_INDENT) + 2) : null;
  }

  get #column(): number {
    return this.#columns.at(-1) ?? 0;
  }

  #inside(line: string): string {
    return stripIndent(line, this.#column, this.#level.base);
  }

  /** Reads the first line of a block, behind the markers of the items that begin in it. */
  #readStart(line: string): void {
    const base = this.#level.base + this.#column;
    const isCode = indentOf(line, base).columns >= CODE_INDENT;
    const fence = openFence(line, base);
    const depth = this.#level.depth + this.#columns.length - 1;
    const marker = fence === null ? readMarker(line, { base, depth }) : null;
    if (marker === null || (this.isParagraph && !endsParagraph(marker))) {
      this.#fence = fence;
      this.isParagraph = fence === null && (!isCode || this.isParagraph);
      return;
    }
    this.isParagraph = false;
    this.#columns.push(this.#column + marker.content);
    if (!marker.isEmpty) this.#readStart(behindMarker(line, marker, base));
  }
}

/** The content of the first line of an item. */
function behindMarker(line: string, marker: Marker, base: number): string {
  const behind = line.replace(/^[ \t]*(?:[-*+]|\d{1,9}[.)])/, "");
  const { columns, length } = indentOf(line, base);
  const before = columns + (line.length - behind.length - length);
  return stripIndent(behind, marker.content - before, base + before);
}

/** Up to so many columns of white space: in columns, with a tab to every fourth one, and in characters. */
function indentOf(
  line: string,
  base: number,
  max = Number.POSITIVE_INFINITY,
): { columns: number; length: number } {
  let column = base;
  let length = 0;
  for (; length < line.length && column < base + max; length++) {
    const char = line.charAt(length);
    if (char === "\t") column += CODE_INDENT - (column % CODE_INDENT);
    else if (char === " ") column++;
    else break;
  }
  return { columns: column - base, length };
}

/** Takes up to so many columns of white space away; the rest of a tab becomes spaces. */
function stripIndent(line: string, columns: number, base: number): string {
  const taken = indentOf(line, base, columns);
  return `${" ".repeat(Math.max(0, taken.columns - columns))}${line.slice(taken.length)}`;
}
