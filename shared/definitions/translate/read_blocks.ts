/** Reads paragraphs, lists and fences of an author's text as CommonMark does, in linear time. */
import { collapse, printable, prose } from "./inline.ts";

/**
 * The maximum nesting of lists. Markers of deeper lists stay text. The limit also bounds the time, because each level reads
 * its lines once.
 */
const MAX_DEPTH = 8;
/** The indentation in columns from which a line is code. */
const CODE_INDENT = 4;

interface Paragraph {
  kind: "paragraph";
  /** The lines, escaped except for characters with a meaning at the start of a line. */
  lines: string[];
}

interface Fence {
  kind: "fence";
  info: string;
  body: string[];
}

export interface Item {
  /** `* ` or `1) `. The translator's own lists have other markers, so they never continue an author's list. */
  marker: string;
  blocks: Block[];
  isApart: boolean;
}

interface List {
  kind: "list";
  items: Item[];
}

export type Block = (Paragraph | Fence | List) & {
  /** True if a blank line precedes the block. */
  isApart?: boolean;
};

/** Returns true if the line has no visible characters. */
export function isBlank(line: string): boolean {
  return !/[^\s\p{Cc}]/u.test(line);
}

/** The position of a block: its column in the author's text, which tabs depend on, and the number of lists around it. */
interface Level {
  base: number;
  depth: number;
}

/** Reads the blocks of the lines. Without `level`, they are outside of any list. */
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
 * The block that starts at a line, or null if the block has no visible content, and the index of the line after it. Each
 * reader returns null for a line that starts no block of its kind.
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

/** Returns true for a bullet or an item with the number 1, unless the item is empty. */
function endsParagraph({ text, isEmpty }: Marker): boolean {
  return !isEmpty && (text === "* " || text === "1) ");
}

/**
 * Escapes the lines of a paragraph. The author's line breaks, two spaces or a backslash at the end of a line, become a
 * backslash.
 */
function escapeLines(lines: readonly string[]): string[] {
  const escaped = lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    const hasBackslash = /(?<!\\)(?:\\\\)*\\$/.test(line.slice(-100));
    const isBroken = !isLast && (hasBackslash || line.endsWith("  "));
    const text = prose(isBroken && hasBackslash ? line.slice(0, -1) : line);
    return text === null ? [] : [isBroken ? `${text}\\` : text];
  });
  // A link definition can start on a line before its colon, but only at the start of a paragraph.
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

/** The opening of a fence: the characters of the fence, its indentation and the text after it. */
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

/** Reads a fence. A fence that the author did not close ends with the passage or the list item. */
function readFence(lines: readonly string[], at: number, { base }: Level): BlockRead | null {
  const opening = openFence(lines[at] ?? "", base);
  if (opening === null) return null;
  let end = at + 1;
  while (end < lines.length && !closesFence(lines[end] ?? "", opening, base)) end++;
  const body = lines.slice(at + 1, end).map((line) => printable(stripIndent(line, opening.columns, base)));
  const block: Fence = { kind: "fence", info: cleanInfo(opening.info), body };
  return { block: body.every(isBlank) ? null : block, next: end + 1 };
}

/** Returns the language and the harmless options of a fence. Other words could have a meaning for the agent that loads the file. */
function cleanInfo(info: string): string {
  const words = collapse(info);
  if (/^[\w+#.-][\w+#.,:=/"'{}()[\] -]{0,99}$/.test(words)) return words;
  return /^[\w+#.-]{1,40}(?= |$)/.exec(words)?.[0] ?? "";
}

/** The start of a list item. */
interface Marker {
  text: string;
  isEmpty: boolean;
  /** The columns before the marker, and the columns before the item's content. */
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

/** Returns true for a horizontal rule, such as `---` or `* * *`. */
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

/**
 * Returns the lines of an item without its indentation, and the end of the item. The item ends before blank lines that belong
 * to no item.
 */
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

/**
 * Returns the line without the item's indentation, or null if it is not part of the item. A lazy continuation line gets
 * `lazyIndent`.
 */
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

/** The lines of an item, and the block that is open after them, even within nested lists: a paragraph, a fence, or none. */
class ItemLines {
  readonly lines: string[] = [];
  /** The columns at which the contents of the open lists start, outermost first. */
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
   * The indentation of a line that lazily continues the open paragraph; null if no paragraph is open. It is so deep that the
   * line starts no new block. It consists of tabs, because each list reads the indentation again.
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

  /** Reads the first line of a block, after the markers of the items that start on the line. */
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

/** Returns the content of an item's first line. */
function behindMarker(line: string, marker: Marker, base: number): string {
  const behind = line.replace(/^[ \t]*(?:[-*+]|\d{1,9}[.)])/, "");
  const { columns, length } = indentOf(line, base);
  const before = columns + (line.length - behind.length - length);
  return stripIndent(behind, marker.content - before, base + before);
}

/**
 * Measures the whitespace at the start of a line, up to `max` columns. Returns its width in columns and in characters. Tab stops
 * are every four columns.
 */
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

/** Removes up to `columns` columns of whitespace. The rest of a tab becomes spaces. */
function stripIndent(line: string, columns: number, base: number): string {
  const taken = indentOf(line, base, columns);
  return `${" ".repeat(Math.max(0, taken.columns - columns))}${line.slice(taken.length)}`;
}
