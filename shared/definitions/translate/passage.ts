/**
 * Converts an author's text of several lines, and keeps its paragraphs, lists and fences. They are parsed as CommonMark and
 * written again, so none of them extends beyond the passage. All other markup, such as headings and quotes, stays plain text.
 */
import {
  code,
  escapeLineStart,
  type Inline,
  longestBacktickRun,
  type Passage,
  type Prose,
  printable,
  prose,
} from "./inline.ts";
import { type Block, type Item, isBlank, readBlocks } from "./read_blocks.ts";

/** Returns an author's prose as a passage, or on one line if it has only one. Returns null for blank or missing text. */
export function passage(text: string | null): Prose | null {
  if (text === null || !/[\n\r]/.test(text)) return prose(text);
  const lines = visibleLines(text);
  if (lines.length <= 1) return prose(text);
  const blocks = readBlocks(lines);
  const [first, ...others] = blocks;
  // The text contains only markers of empty lists.
  if (first === undefined) return prose(text);
  if (first.kind !== "paragraph") return { lead: "" as Inline, below: render(blocks) };
  const [lead = "", ...rest] = first.lines;
  const more = render([{ ...first, lines: [] }, ...others]);
  const below = [...rest.map(escapeContinuation), ...more];
  return below.length === 0 ? (lead as Inline) : { lead: lead as Inline, below };
}

/** Returns an author's literal text, in a fence if it has several lines. Returns null for blank or missing text. */
export function snippet(text: string | null): Prose | null {
  const lines = text !== null && /[\n\r]/.test(text) ? visibleLines(text) : [];
  if (lines.length <= 1) return code(text);
  return { lead: "" as Inline, below: fenceLines(lines.map(printable), "") } satisfies Passage;
}

/** Returns the lines between fences that are longer than any run of backticks in the lines. */
export function fenceLines(body: readonly string[], info: string): string[] {
  const longest = body.reduce((length, line) => Math.max(length, longestBacktickRun(line)), 0);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return [`${fence}${info}`, ...body, fence];
}

/** Returns the lines without blank lines at both ends. */
function visibleLines(text: string): string[] {
  const lines = text.toWellFormed().split(/\r\n?|\n/);
  const first = lines.findIndex((line) => !isBlank(line));
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1);
}

/** Escapes a continuation line of a paragraph. A line such as `---|---` would turn the previous line into a table header. */
function escapeContinuation(line: string): string {
  return /^[-:|][-:| \t]*$/.test(line) ? `\\${line}` : escapeLineStart(line);
}

/**
 * Returns the lines of blocks. The author's blank lines between blocks are kept, and the blank lines that Markdown requires
 * are added.
 */
function render(blocks: readonly Block[]): string[] {
  const lines: string[] = [];
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    if (before && (block.isApart === true || needsBlankLine(before, block))) lines.push("");
    for (const line of renderBlock(block)) lines.push(line);
  }
  return lines;
}

function needsBlankLine(before: Block, block: Block): boolean {
  if (before.kind === "list") return true;
  if (before.kind === "fence" || block.kind === "fence") return false;
  // A bullet ends a paragraph. A numbered item does so only if its number is 1.
  return block.kind === "paragraph" || !["* ", "1) "].includes(block.items[0]?.marker ?? "");
}

function renderBlock(block: Block): string[] {
  if (block.kind === "fence") return fenceLines(block.body, block.info);
  if (block.kind === "list") return block.items.flatMap(renderItem);
  const [first, ...rest] = block.lines;
  return first === undefined ? [] : [escapeLineStart(first), ...rest.map(escapeContinuation)];
}

function renderItem({ marker, blocks, isApart }: Item): string[] {
  const [first = "", ...below] = render(blocks);
  const box = /^\\(\[[ xX]\] .*)$/s.exec(first)?.[1];
  const indent = " ".repeat(marker.length);
  const lines = [`${marker}${box ?? first}`, ...below.map((line) => (line === "" ? "" : `${indent}${line}`))];
  return isApart ? ["", ...lines] : lines;
}
