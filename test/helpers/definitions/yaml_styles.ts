/** Writes values as YAML in random styles, and records the value to which each piece of the text belongs. */
import type { Chance } from "../random_numbers.ts";
import type { Entry, Path, ValueNode } from "./random_definitions.ts";
import { randomBlockScalar, randomFlowScalar } from "./yaml_scalars.ts";

/** A piece of the document's text. */
export interface Piece {
  text: string;
  /**
   * The path of the value to which the piece belongs. A value's pieces are its own text, and the brackets, dashes and
   * comments between its items.
   */
  owner: Path;
  /** The target of the alias, if the piece is an alias. */
  target?: ValueNode;
}

type CollectionNode = Extract<ValueNode, { kind: "map" | "list" }>;
type MapNode = Extract<ValueNode, { kind: "map" }>;
type ListNode = Extract<ValueNode, { kind: "list" }>;

interface Context {
  isFlow: boolean;
  /** The column of the enclosing block; -1 outside the root. */
  column: number;
  /** The owner of the text between the values of this block. */
  owner: Path;
  /** The owner of the text between a value and the end of its line. */
  tail: Path;
}

/** The last element of the path that owns the new keys of an interface. */
export const NEW_KEY = "+";

/** Writes a document whose root is a map. */
export function writeDocument(chance: Chance, root: ValueNode): Piece[] {
  const writer = new StyleWriter(chance);
  writer.document(root);
  if (chance.of(0.25)) for (const piece of writer.pieces) piece.text = piece.text.replaceAll("\n", "\r\n");
  return writer.pieces;
}

class StyleWriter {
  readonly pieces: Piece[] = [];
  readonly #chance: Chance;
  /** True directly after a block scalar. Its text depends on the line break and indentation that follow. */
  #isBehindBlock = false;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  document(root: ValueNode): void {
    const chance = this.#chance;
    const top = { isFlow: false, column: -1, owner: [], tail: [] };
    if (chance.of(0.1)) this.#put("\uFEFF", []);
    if (chance.of(0.1)) this.#put("# first\n\n", []);
    this.#put(chance.pick(["", "", "", "", "---\n", "--- # start\n", "%YAML 1.2\n---\n"]), []);
    if (chance.of(0.1)) {
      this.#value(root, { ...top, isFlow: true });
      this.#tail(top);
    } else this.#blockMap(root as MapNode, top, { column: 0, isStarted: false });
    this.#put(chance.pick(["", "", "", "...\n# after the end\n", "\n# last\n   \n"]), []);
    const [end, tail] = [this.pieces.at(-2), this.pieces.at(-1)];
    if (end?.text === "\n" && tail?.text === "" && !this.#isBehindBlock && chance.of(0.4)) end.text = "";
  }

  #put(text: string, owner: Path, target?: ValueNode): void {
    this.pieces.push({ text, owner, ...(target ? { target } : {}) });
  }

  /** Ends a line, sometimes with trailing whitespace or a comment. */
  #tail({ tail }: Context, mayComment = true): void {
    this.#isBehindBlock = !mayComment;
    if (mayComment && this.#chance.of(0.2))
      this.#put(this.#chance.pick([" # why: not", "  #", " \t", "   "]), tail);
    this.#put("\n", tail);
  }

  #between({ column, owner }: Context): void {
    if (this.#chance.of(0.85)) return;
    const indent = " ".repeat(this.#isBehindBlock ? Math.max(0, column) : this.#chance.below(9));
    this.#put(this.#chance.pick(["\n", `${indent}# about: what follows\n`, `\n${indent}# [open\n\n`]), owner);
  }

  /** Writes each key of a map on its own line. With `isStarted`, the indentation of the first key is already written. */
  #blockMap(
    { entries, path }: MapNode,
    outer: Context,
    { column, isStarted }: { column: number; isStarted: boolean },
  ): void {
    for (const [index, entry] of entries.entries()) {
      const isLast = index === entries.length - 1;
      const inner = { isFlow: false, column, owner: path, tail: isLast ? outer.tail : path };
      if (!isStarted || index > 0) {
        if (index > 0) this.#between(inner);
        this.#put(" ".repeat(column), path);
      }
      this.#blockEntry(entry, inner);
    }
  }

  #blockEntry(entry: Entry, context: Context): void {
    const { owner, column } = context;
    const isEmpty = entry.value.kind === "other" && entry.value.source === "" && !entry.value.anchor;
    const isExplicit = this.#chance.of(0.08);
    if (isExplicit) this.#put("? ", owner);
    this.#key(entry, context);
    if (isExplicit && isEmpty && this.#chance.of(0.5)) {
      this.#endValue(entry.value, { ...context, tail: owner }, true);
      return;
    }
    if (isExplicit) {
      this.#tail({ ...context, tail: owner });
      this.#put(" ".repeat(column), owner);
    }
    this.#put(":", owner);
    this.#valueInBlock(entry.value, context, { isInMap: true });
  }

  #key({ key, keyTarget }: Entry, { owner }: Context): void {
    const plain = /^\w+$/.test(key) ? [key, key, key, key, `&k${this.pieces.length} ${key}`] : [];
    if (keyTarget) this.#put(`*${keyTarget.anchor} `, [...owner, key, "key"], keyTarget);
    else
      this.#put(this.#chance.pick([...plain, JSON.stringify(key), `'${key.replaceAll("'", "''")}'`]), owner);
  }

  /** Writes a value after a colon or dash, and ends its line. */
  #valueInBlock(node: ValueNode, context: Context, { isInMap }: { isInMap: boolean }): void {
    const isMap = node.kind === "map" && node.entries.length > 0;
    const isList = node.kind === "list" && node.items.length > 0;
    if ((isMap || isList) && this.#chance.of(0.75)) this.#blockCollection(node, context, { isInMap });
    else if (node.kind === "text" && this.#chance.of(0.3) && this.#blockScalar(node, context)) {
      this.#endValue(node, context, false);
    } else {
      this.#spaced(node, context);
      this.#endValue(node, context, true);
    }
  }

  #blockCollection(node: CollectionNode, context: Context, { isInMap }: { isInMap: boolean }): void {
    const { owner, column } = context;
    const hasProperties = this.#properties(node, owner);
    if (node.kind === "map" && !hasProperties && !isInMap && this.#chance.of(0.7)) {
      const gap = 1 + this.#chance.below(2);
      this.#put(" ".repeat(gap), node.path);
      this.#blockMap(node, context, { column: column + 1 + gap, isStarted: true });
      return;
    }
    const hasComment = this.#chance.of(0.2);
    this.#put(hasComment ? " # below\n" : "\n", hasComment ? owner : node.path);
    const deeper = column + 1 + this.#chance.below(4);
    if (node.kind === "map") this.#blockMap(node, context, { column: deeper, isStarted: false });
    else this.#blockList(node, context, isInMap && this.#chance.of(0.3) ? column : deeper);
  }

  /**
   * Ends the line of a value. Before the line break, adds an empty piece into which an edit inserts the rest of a
   * multi-line text. After a version, adds another piece for new keys of the interface.
   */
  #endValue({ path }: ValueNode, context: Context, mayComment: boolean): void {
    this.#tail(context, mayComment);
    const isVersion = path.at(-1) === "version";
    const added = [
      { text: "", owner: path },
      ...(isVersion ? [{ text: "", owner: [...path.slice(0, -1), NEW_KEY] }] : []),
    ];
    this.pieces.splice(-1, 0, ...added);
  }

  #blockList(node: ListNode, outer: Context, column: number): void {
    for (const [index, item] of node.items.entries()) {
      const isLast = index === node.items.length - 1;
      const context = { isFlow: false, column, owner: node.path, tail: isLast ? outer.tail : node.path };
      if (index > 0) this.#between(context);
      this.#put(`${" ".repeat(column)}-`, node.path);
      this.#valueInBlock(item, context, { isInMap: false });
    }
  }

  #properties(node: ValueNode, owner: Path): boolean {
    const tags = { text: "!!str", list: "!!seq", map: "!!map", other: null, alias: null };
    const tag = this.#chance.of(0.08) ? tags[node.kind] : null;
    const properties = [node.anchor ? `&${node.anchor}` : null, tag].filter((text) => text != null);
    for (const text of this.#chance.shuffle(properties)) {
      // An edit may replace the text of `tags` with a list, which cannot keep the tag `!!str`.
      const isTagsText = text === "!!str" && node.path.at(-1) === "tags";
      this.#put(` ${text}`, isTagsText ? node.path : owner);
    }
    return properties.length > 0;
  }

  /** Writes a value with its properties, on the same line or on the next line. */
  #spaced(node: ValueNode, context: Context): void {
    const { owner, column, isFlow } = context;
    this.#properties(node, owner);
    if (node.kind === "other" && node.source === "") {
      this.#put("", node.path);
      return;
    }
    const isBelow = !isFlow && this.#chance.of(0.05);
    this.#put(isBelow ? `${this.#chance.pick(["", " # below"])}\n${" ".repeat(column + 2)}` : " ", owner);
    this.#value(node, context);
  }

  /** Writes a value without a line break after it. */
  #value(node: ValueNode, context: Context): void {
    if (node.kind === "alias") this.#put(`*${node.target.anchor}`, node.path, node.target);
    else if (node.kind === "other") this.#put(node.source, node.path);
    else if (node.kind === "text")
      this.#put(randomFlowScalar(this.#chance, node.text, context.column), node.path);
    else this.#flowCollection(node, context);
  }

  #flowCollection(node: CollectionNode, { column }: Context): void {
    const [open, close] = node.kind === "map" ? ["{", "}"] : ["[", "]"];
    const context = { isFlow: true, column, owner: node.path, tail: node.path };
    const gap = this.#chance.pick(["", "", " ", `\n${" ".repeat(column + 3)}`]);
    this.#put(open + gap, node.path);
    const parts = node.kind === "map" ? node.entries : node.items;
    for (const [index, part] of parts.entries()) {
      const commas = [", ", ",  ", `,\n${" ".repeat(column + 3)}`, ` , # next\n${" ".repeat(column + 1)}`];
      if (index > 0) this.#put(this.#chance.pick(commas), node.path);
      if ("key" in part) this.#flowEntry(part, context);
      else if (part.kind === "other" && part.source === "")
        this.#spaced({ ...part, source: "null" }, context);
      else this.#spaced(part, context);
    }
    this.#put(gap + close, node.path);
  }

  #flowEntry(entry: Entry, context: Context): void {
    const { value } = entry;
    if (this.#chance.of(0.05)) this.#put("? ", context.owner);
    this.#key(entry, context);
    const isEmpty = value.kind === "other" && value.source === "" && !value.anchor;
    if (isEmpty && this.#chance.of(0.5)) this.#put("", value.path);
    else {
      this.#put(":", context.owner);
      this.#spaced(value, context);
      if (value.path.at(-1) === "version") this.#put("", [...context.owner, NEW_KEY]);
    }
  }

  /** Writes a text as a block scalar. If the text cannot be a block scalar, writes nothing and returns false. */
  #blockScalar(node: Extract<ValueNode, { kind: "text" }>, { owner, column }: Context): boolean {
    const written = randomBlockScalar(this.#chance, node.text, column);
    if (!written) return false;
    this.#properties(node, owner);
    this.#put(" ", owner);
    this.#put(written.header, node.path);
    if (this.#chance.of(0.2)) this.#put(" # a comment", owner);
    this.#put(`\n${written.body}`, node.path);
    return true;
  }
}
