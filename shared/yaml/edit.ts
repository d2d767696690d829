/** Changes and adds single values in a YAML text. All other bytes stay unchanged, except aliases whose anchors change. */
import { isDeepStrictEqual } from "node:util";
import {
  type Alias,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { readYaml, type YamlDocument } from "./document.ts";
import { type DefinitionProblem, formatPath, type PathStep } from "./problems.ts";
import type { Tree } from "./source_places.ts";
import { innerPlace, type Place, TextSplices } from "./splices.ts";
import { keyText } from "./values.ts";
import { flowText, type WrittenValue } from "./write.ts";

/** A new value at a path of map keys and list indexes. The last key of the path may be missing from its map. */
export interface YamlChange {
  path: readonly (string | number)[];
  value: WrittenValue;
}

export type YamlEdit =
  | {
      ok: true;
      yaml: string;
      /** The aliases outside of the changed values that were replaced by the old values of their anchors. */
      replacedAliases: DefinitionProblem[];
    }
  | { ok: false; problems: DefinitionProblem[] };

/** The new values in a part of the document. */
interface Edits {
  value?: WrittenValue;
  below: Map<string | number, Edits>;
}

const NO_EDITS: Edits = { below: new Map() };

/**
 * Writes new values in the style of the old values. If the value of an anchor changes, its aliases are replaced by the old value.
 * New keys follow the key `addAfter`, or the last key. Fails if the new text does not parse to the intended values.
 */
export function editYaml(
  text: string,
  options: { document: YamlDocument; changes: readonly YamlChange[]; addAfter: string },
): YamlEdit {
  const { document, changes } = options;
  const editor = new TreeEditor(text, options);
  const edits = toEdits(changes);
  editor.visit(document.tree.contents, edits, { isFlow: false, column: -1, before: [] });
  const edited = editor.splices.apply();
  const read = readYaml(edited);
  if (!read.ok || !isDeepStrictEqual(read.document.value, withEdits(document.value, edits))) {
    const path = changes[0]?.path ?? [];
    const message =
      "Cannot change this value without rewriting other parts of the document. Edit the YAML instead.";
    return { ok: false, problems: [{ path: formatPath(path), message, ...document.locate(path) }] };
  }
  return { ok: true, yaml: edited, replacedAliases: editor.replacedAliases };
}

function toEdits(changes: readonly YamlChange[]): Edits {
  const root: Edits = { below: new Map() };
  for (const { path, value } of changes) {
    let place = root;
    for (const step of path) place = place.below.getOrInsertComputed(step, () => ({ below: new Map() }));
    place.value = value;
  }
  return root;
}

function withEdits(old: unknown, { value, below }: Edits): unknown {
  if (value !== undefined) return value;
  if (below.size === 0) return old;
  const copy = (Array.isArray(old) ? [...old] : { ...(old as object) }) as Record<string | number, unknown>;
  for (const [step, edits] of below) copy[step] = withEdits(copy[step], edits);
  return copy;
}

/** Edits the tree in document order, so that anchors come before their aliases. */
class TreeEditor {
  readonly splices: TextSplices;
  readonly replacedAliases: DefinitionProblem[] = [];
  readonly #document: YamlDocument;
  readonly #addAfter: string;
  readonly #path: PathStep[] = [];
  /** The edits of each anchored node that stays in the text. */
  readonly #anchored = new Map<Tree, Edits>();

  constructor(text: string, { document, addAfter }: { document: YamlDocument; addAfter: string }) {
    this.splices = new TextSplices(text);
    this.#document = document;
    this.#addAfter = addAfter;
  }

  visit(node: Tree, edits: Edits, place: Place): void {
    if (node?.anchor) this.#anchored.set(node, edits);
    if (isAlias(node)) this.#visitAlias(node as Alias.Parsed, edits, place);
    else if (edits.value !== undefined) this.splices.replace(node, edits.value, place);
    else if (isMap(node)) this.#visitMap(node as YAMLMap<ParsedNode, Tree>, edits, place);
    else if (isSeq(node)) {
      const inner = innerPlace(node as ParsedNode, place);
      const tokens = (node.srcToken as CST.BlockSequence | CST.FlowCollection | undefined)?.items;
      for (const [index, item] of node.items.entries())
        this.#visitBelow(index, item as Tree, edits, { ...inner, before: tokens?.[index]?.start ?? [] });
    }
  }

  #visitBelow(step: string | number, node: Tree, edits: Edits, place: Place): void {
    this.#path.push(step);
    this.visit(node, edits.below.get(step) ?? NO_EDITS, place);
    this.#path.pop();
  }

  #visitMap(map: YAMLMap<ParsedNode, Tree>, edits: Edits, place: Place): void {
    const inner = innerPlace(map as ParsedNode, place);
    const missing = new Set(edits.below.keys());
    for (const { key, value, srcToken } of map.items) {
      this.visit(key, NO_EDITS, { ...inner, before: [] });
      const step = this.#keyOf(key);
      missing.delete(step);
      this.#visitBelow(step, value, edits, { ...inner, key, before: srcToken?.sep ?? [] });
    }
    const added = [...edits.below].filter(([step]) => missing.has(step));
    if (added.length === 0) return;
    const after = map.items.find(({ key }) => this.#keyOf(key) === this.#addAfter) ?? map.items.at(-1);
    const entries = added.map(([key, { value = "" }]) => ({ key: String(key), value }));
    if (after) this.splices.add(entries, after, inner);
  }

  /** Keeps an alias if its anchor stays and gets the same new values. Otherwise, replaces the alias. */
  #visitAlias(alias: Alias.Parsed, edits: Edits, place: Place): void {
    if (isDeepStrictEqual(this.#anchored.get(this.#targetOf(alias)), edits)) return;
    if (edits.value !== undefined) {
      this.splices.replace(alias, edits.value, place);
      return;
    }
    this.splices.put({ from: alias.range[0], to: alias.range[1] }, this.#copy(alias, edits));
    this.replacedAliases.push({
      path: formatPath(this.#path),
      message: `The alias "*${alias.source}" is replaced by its text, because the value of its anchor changes.`,
      ...this.#document.locate(this.#path),
    });
  }

  #targetOf(alias: Alias): Tree {
    return this.#document.aliases.get(alias) ?? null;
  }

  #keyOf(key: Tree): string {
    return keyText(isAlias(key) ? this.#targetOf(key) : key);
  }

  /** Formats a node with its new values on one line. */
  #copy(node: Tree, { value, below }: Edits): string {
    if (value !== undefined) return flowText(value);
    if (isAlias(node)) return this.#copy(this.#targetOf(node), { below });
    const copyBelow = (step: string | number, item: Tree) => this.#copy(item, below.get(step) ?? NO_EDITS);
    if (isSeq(node)) return `[${node.items.map((item, index) => copyBelow(index, item as Tree)).join(", ")}]`;
    if (isMap(node)) {
      const entries = new Map(
        (node as YAMLMap<ParsedNode, Tree>).items.map(({ key, value: item }) => {
          const step = this.#keyOf(key);
          return [step, copyBelow(step, item)];
        }),
      );
      for (const [step, edits] of below)
        if (!entries.has(String(step))) entries.set(String(step), this.#copy(null, edits));
      return `{${[...entries].map(([key, text]) => `${flowText(key)}: ${text}`).join(", ")}}`;
    }
    return isScalar(node) ? copyScalar(node) : "null";
  }
}

/** Formats a scalar so that it has the same value inside a flow collection. */
function copyScalar({ value, source = "", tag, type }: Scalar): string {
  if (typeof value === "string") return flowText(value, type as Scalar.Type);
  const text = source === "" ? "null" : source;
  return tag === undefined ? text : `!<${tag}> ${text}`;
}
