/** Converts the parser's tree to plain values. Performs checks that the parser does not perform. */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type YAMLMap,
} from "yaml";
import { isStorable } from "../characters.ts";
import { TOO_DEEP, TOO_MANY_ALIASES, TOO_MANY_NODES, YAML_LIMITS } from "./limits.ts";
import { formatPath, MAX_PROBLEMS, type PathStep, quoteValue } from "./problems.ts";
import { plainScalar } from "./scalars.ts";
import type { Tree } from "./source_places.ts";

/** The problem of a key that is a list or a map, such as the inner braces of `{{ topic }}`. */
export const KEY_IS_NO_SCALAR = 'A list or map cannot be a key. Quote a text that begins with "{" or "[".';

/** A problem at an offset in the text. */
export interface TreeProblem {
  path: string;
  message: string;
  offset: number;
}

export interface PlainValue {
  value: unknown;
  problems: TreeProblem[];
  /** The target node of each alias. */
  aliases: ReadonlyMap<Alias, ParsedNode>;
}

/** Converts maps to objects, lists to arrays and aliases to copies of the anchored values. */
export function toPlainValue(tree: Document.Parsed): PlainValue {
  const walk = new PlainValueWalk();
  let value: unknown = null;
  try {
    value = walk.visit(tree.contents);
  } catch (error) {
    if (!(error instanceof WalkEnded)) throw error;
  }
  return { value, problems: walk.problems, aliases: walk.aliases };
}

/** Returns the text of a key. A number, boolean or null keeps its source text, such as `1.10`; a missing key is `null`. */
export function keyText(node: Tree): string {
  if (!isScalar(node)) return "null";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}

export const UNSTORABLE = "The text contains the character NUL or half of a surrogate pair. Remove it.";

const MERGE_KEY =
  'Merge keys ("<<") are not part of YAML 1.2. Write the keys of the other map out, or use an alias for a whole value: "defaults: *common".';

/** Thrown to stop the walk after too many problems, or when a limit is exceeded. */
class WalkEnded extends Error {}

/** Converts the tree. Counts nodes exactly, including those of expanded aliases. The depth limit bounds the recursion. */
class PlainValueWalk {
  readonly problems: TreeProblem[] = [];
  readonly #path: PathStep[] = [];
  /** The latest node so far with each anchor name. */
  readonly #anchors = new Map<string, ParsedNode>();
  /** The target of each alias, determined when the walk first reached the alias. */
  readonly aliases = new Map<Alias, ParsedNode>();
  /** The ancestors of the current node. */
  readonly #open = new Set<ParsedNode>();
  #nodes = 0;
  #expansions = 0;
  #depth = 0;
  #expanding = 0;
  #offset = 0;

  visit(node: Tree): unknown {
    if (node?.range) this.#offset = node.range[0];
    if (++this.#nodes > YAML_LIMITS.nodes) throw this.#exceeded(TOO_MANY_NODES);
    if (node === null) return null;
    if (isAlias(node)) return this.#expand(node);
    if (node.anchor && this.#expanding === 0) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(plainScalar(node.value, node.source));
    if (++this.#depth > YAML_LIMITS.depth) throw this.#exceeded(TOO_DEEP);
    this.#open.add(node);
    const value = isMap(node)
      ? this.#map(node as YAMLMap<ParsedNode, Tree>)
      : node.items.map((item, index) => this.#at(index, item as Tree));
    this.#open.delete(node);
    this.#depth--;
    return value;
  }

  #at(step: PathStep, node: Tree): unknown {
    this.#path.push(step);
    const value = this.visit(node);
    this.#path.pop();
    return value;
  }

  #scalar(value: unknown): unknown {
    if (typeof value === "string" && !isStorable(value)) this.#addProblem(UNSTORABLE);
    return value;
  }

  #map(map: YAMLMap<ParsedNode, Tree>): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const pair of map.items) this.#entry(object, pair);
    return object;
  }

  #entry(object: Record<string, unknown>, pair: Pair<ParsedNode, Tree>): void {
    const key = this.#key(pair.key);
    const offset = this.#offset;
    if (key !== null && Object.hasOwn(object, key)) {
      this.#addProblem(`The key ${quoteValue(key)} appears twice in one map. Keep one of them.`, key);
    }
    // An assignment to __proto__ would replace the prototype of the object, or of a copy of it.
    if (key === "__proto__") this.#addProblem('"__proto__" cannot be a key. Choose another name.');
    if (key === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN") this.#addProblem(MERGE_KEY, key);
    this.#offset = offset;
    const value = this.#at(key ?? "?", pair.value);
    if (key !== null && key !== "__proto__") object[key] = value;
  }

  #key(node: Tree): string | null {
    const target = isAlias(node) ? this.#target(node) : node;
    if (isMap(target) || isSeq(target)) {
      this.#offset = target.range[0];
      this.#addProblem(KEY_IS_NO_SCALAR);
      return null;
    }
    this.visit(node);
    return keyText(target ?? null);
  }

  #expand(alias: Alias): unknown {
    const target = this.#target(alias);
    if (!target) {
      this.#addProblem(
        `No anchor "&${alias.source}" precedes this alias. Quote a text that begins with "*".`,
      );
      return null;
    }
    if (this.#open.has(target)) {
      this.#addProblem(`The alias "*${alias.source}" is inside its own anchor.`);
      return null;
    }
    if (++this.#expansions > YAML_LIMITS.aliasExpansions) throw this.#exceeded(TOO_MANY_ALIASES);
    this.#expanding++;
    const value = this.visit(target);
    this.#expanding--;
    return value;
  }

  #target(alias: Alias): ParsedNode | undefined {
    const target = this.aliases.get(alias) ?? this.#anchors.get(alias.source);
    if (target) this.aliases.set(alias, target);
    return target;
  }

  #addProblem(message: string, key?: string): void {
    const path = formatPath(key === undefined ? this.#path : [...this.#path, key]);
    this.problems.push({ path, message, offset: this.#offset });
    if (this.problems.length >= MAX_PROBLEMS) throw new WalkEnded();
  }

  #exceeded(message: string): WalkEnded {
    this.problems.push({ path: formatPath(this.#path), message, offset: this.#offset });
    return new WalkEnded();
  }
}
