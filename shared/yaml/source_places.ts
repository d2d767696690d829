/** Finds the positions of nodes in the source text from the parser's tokens. */
import { type CST, isCollection, isPair, type ParsedNode, Scalar } from "yaml";

export type Tree = ParsedNode | null;

export interface Span {
  from: number;
  to: number;
}

export interface BlockScalarPlace {
  /** The header, such as `>-`, without a comment after it. */
  header: Span;
  /** The lines of text, without blank lines at the end and without the last line end. */
  content: Span;
  /** The additional indentation of the text relative to the enclosing block. */
  indent: number;
}

export function isBlockScalar(node: Tree): node is Scalar.Parsed {
  const type = (node as Scalar.Parsed | null)?.type;
  return type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED;
}

/** Returns the position of a block scalar in a block that starts at `column`. */
export function placeBlockScalar({ srcToken }: Scalar.Parsed, column = 0): BlockScalarPlace {
  const { props, source } = srcToken as CST.BlockScalar;
  const tokens = props as CST.SourceToken[];
  const header = tokens.find(({ type }) => type === "block-scalar-header");
  const last = tokens.at(-1);
  if (!header || !last) throw new Error("Cannot place a block scalar without a header");
  const from = endOfToken(last);
  const length = contentLength(source);
  const lines = source.slice(0, length);
  const stated = /\d/.exec(header.source)?.[0];
  const first = lines.split("\n").find((line) => line.trim() !== "");
  const indent = stated ? Number(stated) : first === undefined ? 2 : first.search(/[^ ]/) - column;
  return {
    header: { from: header.offset, to: endOfToken(header) },
    content: { from, to: from + length },
    indent,
  };
}

/** Returns the length without blank lines at the end, and without the line end before them. */
function contentLength(source: string): number {
  let end = source.length;
  while (end > 0) {
    const start = source.lastIndexOf("\n", end - 1) + 1;
    if (source.slice(start, end).trim() !== "") return source[end - 1] === "\r" ? end - 1 : end;
    end = Math.max(0, start - 1);
  }
  return 0;
}

/** Returns the offset after a node's last character, not counting comments and line ends after the node. */
export function endOfNode(node: ParsedNode): number {
  if (isBlockScalar(node)) {
    const { header, content } = placeBlockScalar(node);
    return content.to > content.from ? content.to : header.to;
  }
  if (!isCollection(node) || node.flow) return node.range[1];
  const last = node.items.at(-1);
  if (!isPair(last))
    return endOfValue(last as Tree, (node.srcToken as CST.BlockSequence).items.at(-1)?.start);
  const { sep = [] } = last.srcToken ?? {};
  if (sep.some(isWritten)) return endOfValue(last.value as Tree, sep);
  return endOfNode(last.key as ParsedNode);
}

function endOfValue(node: Tree, before: readonly CST.SourceToken[] = []): number {
  return node && node.range[1] > node.range[0] ? endOfNode(node) : endOfTokens(before);
}

/** Returns the start of a block collection, including the properties of its first key. */
export function startOfBlock(node: ParsedNode): number {
  const [first] = (node.srcToken as CST.BlockMap | CST.BlockSequence).items;
  return first?.start.find(isWritten)?.offset ?? node.range[0];
}

/** Returns the column of the keys of a block map, or of the dashes of a block list. */
export function columnOfBlock(node: ParsedNode): number {
  return (node.srcToken as CST.BlockMap | CST.BlockSequence).indent;
}

/** Returns the end of the last token that is neither whitespace nor a comment; 0 if there is no such token. */
export function endOfTokens(tokens: readonly CST.SourceToken[]): number {
  const last = tokens.findLast(isWritten);
  return last ? endOfToken(last) : 0;
}

export function endOfToken({ offset, source }: CST.SourceToken): number {
  return offset + source.length;
}

function isWritten({ type }: CST.SourceToken): boolean {
  return type !== "space" && type !== "newline" && type !== "comment";
}
