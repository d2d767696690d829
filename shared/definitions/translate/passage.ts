/**
 * Author's text of several lines: it keeps its paragraphs, lists and fences. They are read as CommonMark reads them and
 * written again, so none of them reaches beyond the passage. Everything else, such as a heading or a quote, stays text.
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

/** Author's prose, in one line if it is one; null for blank text and for none. */
export function passage(text: string | null): Prose | null {
  if (text === null || !/[\n\r]/.test(text)) return prose(text);
  const lines = visibleLines(text);
  if (lines.length <= 1) return prose(text);
  const blocks = readBlocks(lines);
  const [first, ...others] = blocks;
  // Nothing but markers of empty lists.
  if (first === undefined) return prose(text);
  if (first.kind !== "paragraph") return { lead: "" as Inline, below: render(blocks) };
  const [lead = "", ...rest] = first.lines;
  const more = render([{ ...first, lines: [] }, ...others]);
  const below = [...rest.map(escapeContinuation), ...more];
  return below.length === 0 ? (lead as Inline) : { lead: lead as Inline, below };
}

/** Author's text to be taken literally, in a fence if it has several lines; null for blank text and for none. */
export function snippet(text: string | null): Prose | null {
  const lines = text !== null && /[\n\r]/.test(text) ? visibleLines(text) : [];
  if (lines.length <= 1) return code(text);
  return { lead: "" as Inline, below: fenceLines(lines.map(printable), "") } satisfies Passage;
}

/** Lines of text as they stand, between fences that are longer than any row of backticks inside. */
export function fenceLines(body: readonly string[], info: string): string[] {
  const longest = body.reduce((length, line) => Math.max(length, longestBacktickRun(line)), 0);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return [`${fence}${info}`, ...body, fence];
}

/** The lines without blank ones at both ends. */
function visibleLines(text: string): string[] {
  const lines = text.toWellFormed().split(/\r\n?|\n/);
  const first = lines.findIndex((line) => !isBlank(line));
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1);
}

/** A line within a paragraph: it could also turn the one before into the head of a table. */
function escapeContinuation(line: string): string {
  return /^[-:|][-:| \t]*$/.test(line) ? `\\${line}` : escapeLineStart(line);
}

/** The lines of blocks; the author's blank lines between them stay, and those that Markdown needs are added. */
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
  // A paragraph ends at a bullet, and at a number only if it is the first.
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
