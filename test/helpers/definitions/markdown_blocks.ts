/** Parses rendered Markdown into blocks, to compare the blocks outside authors' passages. */
import MarkdownIt from "markdown-it";
import { load } from "./translation.ts";

export interface MarkdownBlock {
  /** The block's kind, for example `paragraph`, `list_item` or `h2`. */
  name: string;
  /** The source of the block's text. For a fence, the text includes the info string. */
  text: string;
  children: MarkdownBlock[];
}

const parser = new MarkdownIt({ html: true });
/** Parses only paragraphs, lists and code, which are the blocks of passages. */
const passageParser = new MarkdownIt({ html: false }).disable([
  "heading",
  "lheading",
  "blockquote",
  "hr",
  "table",
  "reference",
]);

/** The kinds of blocks that a rendered passage may contain. */
const PASSAGE_BLOCKS = new Set(["paragraph", "bullet_list", "ordered_list", "list_item", "fence"]);

/** Returns the blocks of a rendered file, without its front matter. */
export function blocksOf(markdown: string): MarkdownBlock[] {
  return toBlocks(parser, load(markdown).body);
}

/** Returns the contents of the code blocks in an author's text. */
export function codeOf(text: string): string[] {
  return codeIn(toBlocks(passageParser, text));
}

/**
 * Returns the contents of the code blocks, without trailing blank lines. Blank lines after an unclosed fence may belong
 * to the fence or to the next block.
 */
export function codeIn(blocks: readonly MarkdownBlock[]): string[] {
  return allBlocks(blocks)
    .filter(({ name }) => name === "fence" || name === "code_block")
    .map(({ text }) => text.slice(text.indexOf("\n") + 1).replace(/\n+$/, ""));
}

/** Returns the blocks and all nested blocks, in order. */
function allBlocks(blocks: readonly MarkdownBlock[]): MarkdownBlock[] {
  return blocks.flatMap((block) => [block, ...allBlocks(block.children)]);
}

function toBlocks(markdownIt: typeof parser, text: string): MarkdownBlock[] {
  const root: MarkdownBlock = { name: "", text: "", children: [] };
  const open = [root];
  for (const token of markdownIt.parse(text, {})) {
    const parent = open.at(-1) ?? root;
    if (token.type === "inline") {
      parent.text = token.content;
      continue;
    }
    if (token.nesting < 0) {
      open.pop();
      continue;
    }
    const isHeading = token.type === "heading_open";
    const name = isHeading ? token.tag : token.type.replace(/_open$/, "");
    const block = { name, text: token.nesting === 0 ? `${token.info}\n${token.content}` : "", children: [] };
    parent.children.push(block);
    if (token.nesting > 0) open.push(block);
  }
  return root.children;
}

/**
 * Returns true if both lists have the same blocks outside passages, in the same nesting and order. Where `harmless` has
 * consecutive passages, `found` may have one or more blocks of the kinds in PASSAGE_BLOCKS. For example, the lists of
 * two passages may be merged. With `withText`, the text of the blocks outside passages must also be equal.
 */
export function isSameOutside(
  found: readonly MarkdownBlock[],
  harmless: readonly MarkdownBlock[],
  options: { isPassage: (block: MarkdownBlock) => boolean; withText: boolean },
): boolean {
  const [block, ...others] = harmless;
  if (block === undefined) return found.length === 0;
  if (!options.isPassage(block)) {
    const [first, ...rest] = found;
    if (first?.name !== block.name || (options.withText && first.text !== block.text)) return false;
    return isSameOutside(first.children, block.children, options) && isSameOutside(rest, others, options);
  }
  const end = others.findIndex((other) => !options.isPassage(other));
  const following = end < 0 ? [] : others.slice(end);
  for (const [index, candidate] of found.entries()) {
    if (!allBlocks([candidate]).every(({ name }) => PASSAGE_BLOCKS.has(name))) return false;
    if (isSameOutside(found.slice(index + 1), following, options)) return true;
  }
  return false;
}
