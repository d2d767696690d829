/** Collects and applies replacements in the source text of a document. */
import { type CST, isCollection, isScalar, isSeq, type Pair, type ParsedNode, Scalar } from "yaml";
import {
  columnOfBlock,
  endOfNode,
  endOfToken,
  endOfTokens,
  isBlockScalar,
  placeBlockScalar,
  type Span,
  startOfBlock,
  type Tree,
} from "./source_places.ts";
import { type BlockText, blockText, flowText, type WrittenValue } from "./write.ts";

/** The context of a node in the text. */
export interface Place {
  isFlow: boolean;
  /** The column of the enclosing block. */
  column: number;
  /** The tokens before the node: a colon or dash, its properties, and comments. */
  before: readonly CST.SourceToken[];
  /** The key of the node, if the node is a map value. */
  key?: ParsedNode;
}

interface NewEntry {
  key: string;
  value: WrittenValue;
}

/** Tags that a value may keep. With the tag `!`, the value is text. */
const TEXT_TAGS = ["!", "tag:yaml.org,2002:str"];
const LIST_TAGS = ["tag:yaml.org,2002:seq"];

/** A set of replacements that do not overlap. */
export class TextSplices {
  readonly #text: string;
  readonly #splices: (Span & { text: string })[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text with all replacements applied. */
  apply(): string {
    let edited = "";
    let at = 0;
    for (const { from, to, text } of this.#splices.toSorted((a, b) => a.from - b.from)) {
      edited += this.#text.slice(at, from) + text;
      at = to;
    }
    return edited + this.#text.slice(at);
  }

  put({ from, to }: Span, text: string): void {
    this.#splices.push({ from, to, text });
  }

  /** Writes a value in the style of the node that it replaces. Comments before and after the node stay. */
  replace(node: Tree, value: WrittenValue, place: Place): void {
    this.#dropTag(node, value, place);
    const [from, to] = node?.range ?? [0, 0];
    if (node === null || from === to) this.#fill(value, place);
    else if (isBlockScalar(node)) this.#replaceBlockScalar(node, value, place);
    else if (isCollection(node) && !node.flow) this.#replaceBlock(node, value, place);
    else this.#write({ from, to }, value, place, isScalar(node) ? node.type : null);
  }

  /** Adds keys after an entry of a map. */
  add(entries: readonly NewEntry[], after: Pair<ParsedNode, Tree>, place: Place): void {
    const end = endOfNode(after.value ?? after.key);
    if (place.isFlow) this.put({ from: end, to: end }, flowEntries(entries, after.key));
    else this.#addLines(end, this.#blockEntries(entries, { end, column: place.column }));
  }

  #blockEntries(entries: readonly NewEntry[], { end, column }: { end: number; column: number }): string[] {
    return entries.flatMap(({ key, value }) => {
      const block = this.#blockBelow(end, value, column);
      const first = `${" ".repeat(column)}${flowText(key)}: ${block?.header ?? flowText(value)}`;
      return [first, ...(block ? indented(block, column + 2) : [])];
    });
  }

  /** Removes the node's tag if it does not apply to the new value. */
  #dropTag(node: Tree, value: WrittenValue, { before }: Place): void {
    const kept = typeof value === "string" ? TEXT_TAGS : LIST_TAGS;
    if (!node?.tag || kept.includes(node.tag)) return;
    const at = before.findIndex(({ type }) => type === "tag");
    const tag = before[at];
    if (!tag) return;
    const next = before[at + 1];
    this.put({ from: tag.offset, to: next?.type === "space" ? endOfToken(next) : endOfToken(tag) }, "");
  }

  /** Writes the value of a key that has no value. */
  #fill(value: WrittenValue, place: Place): void {
    const { before, key, isFlow, column } = place;
    const end = endOfTokens(before);
    if (end > 0) this.#write({ from: end, to: end }, value, place, null, " ");
    else if (key && isFlow) this.put({ from: endOfNode(key), to: endOfNode(key) }, `: ${flowText(value)}`);
    else if (key) this.#addLines(endOfNode(key), [`${" ".repeat(column)}: ${flowText(value)}`]);
  }

  #write(
    span: Span,
    value: WrittenValue,
    { isFlow, column }: Place,
    style: Scalar.Type | null | undefined,
    gap = "",
  ): void {
    const block = isFlow ? null : this.#blockBelow(span.to, value, column);
    this.put(span, gap + (block?.header ?? flowText(value, style)));
    if (block) this.#addLines(span.to, indented(block, column + 2));
  }

  #replaceBlockScalar(node: Scalar.Parsed, value: WrittenValue, { column }: Place): void {
    const { header, content, indent } = placeBlockScalar(node, column);
    const isEmpty = content.to === content.from;
    const canBeBlock = !isEmpty || !this.#isAboveComment(content.to, column);
    const block = canBeBlock ? blockText(value, node.type === Scalar.BLOCK_FOLDED) : null;
    this.put(header, block?.header ?? flowText(value));
    const eol = this.#eolAt(header.from);
    if (block) {
      const lines = indented(block, column + indent).join(eol);
      const isLast = content.to === this.#text.length;
      const isEnded = isLast ? block.header.endsWith("-") : !isEmpty;
      const startsLine = this.#text[content.from - 1] === "\n";
      this.put(content, (startsLine ? "" : eol) + lines + (isEnded ? "" : eol));
    } else if (!isEmpty) {
      const hasEnd = this.#text.startsWith(eol, content.to);
      this.put({ from: content.from, to: content.to + (hasEnd ? eol.length : 0) }, "");
    }
  }

  #replaceBlock(node: ParsedNode, value: WrittenValue, { column, before }: Place): void {
    const span = { from: startOfBlock(node), to: endOfNode(node) };
    const isBelowComment = before.some(({ type }) => type === "comment");
    if (typeof value !== "string" && value.length > 0 && isSeq(node)) {
      const indent = this.#eolAt(span.from) + " ".repeat(columnOfBlock(node));
      this.put(span, value.map((item) => `- ${flowText(item)}`).join(indent));
    } else if (isBelowComment) {
      // The value stays on its line, which must be indented deeper than the key.
      const missing = Math.max(0, column + 2 - columnOfBlock(node));
      this.put(span, " ".repeat(missing) + flowText(value));
    } else this.put({ from: endOfTokens(before), to: span.to }, ` ${flowText(value)}`);
  }

  /** Returns the block scalar for a text of several lines, if it can be placed below the line of an offset. */
  #blockBelow(at: number, value: WrittenValue, column: number): BlockText | null {
    if (typeof value !== "string" || !value.includes("\n") || this.#isAboveComment(at, column)) return null;
    return blockText(value);
  }

  /** Returns true if a comment below the line of an offset would become part of a block scalar placed there. */
  #isAboveComment(at: number, column: number): boolean {
    const end = this.#text.indexOf("\n", at);
    const line = end < 0 ? null : /^(?:[ \t]*\r?\n)*( *)#/.exec(this.#text.slice(end + 1));
    return line !== null && (line[1] ?? "").length > column;
  }

  /** Adds lines below the line of an offset. */
  #addLines(at: number, lines: readonly string[]): void {
    const end = this.#text.indexOf("\n", at);
    const eol = this.#eolAt(at);
    const from = end < 0 ? this.#text.length : end - (eol.length - 1);
    this.put({ from, to: from }, lines.map((line) => eol + line).join(""));
  }

  /** Returns the line end of the line at an offset. The last line gets the line end of the previous line. */
  #eolAt(at: number): "\n" | "\r\n" {
    const next = this.#text.indexOf("\n", at);
    const end = next < 0 ? this.#text.lastIndexOf("\n") : next;
    return this.#text[end - 1] === "\r" ? "\r\n" : "\n";
  }
}

/** Formats entries for use inside brackets. If the neighboring key has double quotes, the entries are written as JSON. */
function flowEntries(entries: readonly NewEntry[], neighbor: ParsedNode): string {
  const isJson = isScalar(neighbor) && neighbor.type === Scalar.QUOTE_DOUBLE;
  const format = (value: WrittenValue) => (isJson ? JSON.stringify(value) : flowText(value));
  return entries.map(({ key, value }) => `, ${format(key)}: ${format(value)}`).join("");
}

/** Returns the context of the nodes in a collection. */
export function innerPlace(node: ParsedNode, { isFlow }: Place): Place {
  if (isFlow || (isCollection(node) && node.flow)) return { isFlow: true, column: 0, before: [] };
  return { isFlow: false, column: columnOfBlock(node), before: [] };
}

function indented({ lines }: BlockText, column: number): string[] {
  return lines.map((line) => (line === "" ? "" : " ".repeat(column) + line));
}
