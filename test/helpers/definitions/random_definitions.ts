/** Generates random definitions as trees of values with anchors and aliases. */
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import type { Chance } from "../random_numbers.ts";

/** A value of a document. */
export type ValueNode = { anchor?: string; path: Path } & (
  | { kind: "text"; text: string }
  /** A plain scalar in source form, such as a number, boolean or null. */
  | { kind: "other"; source: string }
  | { kind: "list"; items: ValueNode[] }
  | { kind: "map"; entries: Entry[] }
  | { kind: "alias"; target: ValueNode }
);

export interface Entry {
  key: string;
  /** The anchored text that the key refers to, if the key is an alias. */
  keyTarget?: ValueNode;
  value: ValueNode;
}

export type Path = readonly (string | number)[];

export interface RandomDefinition {
  type: DefinitionType;
  root: ValueNode;
}

const TEXTS = [
  "Reviews a change",
  "one",
  "x".repeat(90),
  "Reviews each change of the code for tests and clarity before it is merged by its author",
  "says \"yes\": # or 'no', {a} [b] & *c",
  "Two lines\nof text",
  "A list:\n\n- one\n- two\n\n```js\n  code();\n```\n",
  "3.10",
  "no",
  "null",
  "",
  "naïve 漢字 👩‍👩‍👧‍👦",
  "ends with a line end\n",
  "back\\slash\tand tab",
  "- dash",
  "@acme/x",
] as const;

const OTHERS = ["12345678901234567890", "3.10", "0x1F", "1e3", "true", "no", "null", "~", "", "-0.5", ".inf"];
const FOREIGN = ["helper", "checker@^1.0.0", "writer@latest"];
const LOCAL = ["local", "@other/helper@1.0.0", "Not a name"];

/** Returns a random, valid definition. */
export function randomDefinition(chance: Chance): RandomDefinition {
  const type = chance.pick(DEFINITION_TYPES);
  return { type, root: new TreeMaker(chance).root(type) };
}

class TreeMaker {
  readonly #chance: Chance;
  /** The anchored nodes that are already complete. */
  readonly #anchored: ValueNode[] = [];
  #aliases = 0;
  #hasAliasKey = false;
  #names = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  root(type: DefinitionType): ValueNode {
    const isShared = this.#chance.of(0.1);
    const before = this.#some(2, (index) => this.#extra([], `before${index}`));
    const shared = isShared
      ? [{ key: "shared", value: this.#interface(["shared"], { type, isShared }) }]
      : [];
    const body = { key: type, value: this.#body(type, shared[0]?.value ?? null) };
    const after = this.#some(2, (index) => this.#extra([], `after${index}`));
    return this.#map([], [...before, ...shared, body, ...after], 0);
  }

  #body(type: DefinitionType, shared: ValueNode | null): ValueNode {
    const path = [type, "interface"];
    const declared = (): ValueNode =>
      shared ? { kind: "alias", target: shared, path } : this.#interface(path, { type, isShared: false });
    const makers = [
      () => ({ key: "interface", value: declared() }),
      ...this.#blocks(type),
      () => this.#extra([type], "extra"),
      () => this.#extra([type], "more"),
    ];
    // Created in document order, so that anchors precede their aliases.
    return this.#map(
      [type],
      this.#chance.shuffle(makers).map((make) => make()),
    );
  }

  #interface(path: Path, { type, isShared }: { type: DefinitionType; isShared: boolean }): ValueNode {
    const at = (key: string) => [...path, key];
    const required = {
      name: () => this.#text(at("name"), "reviewer"),
      version: () => this.#text(at("version"), "1.0.0"),
    };
    const optional = {
      displayName: () =>
        this.#chance.of(0.2)
          ? this.#other(at("displayName"), this.#chance.pick(["", "~"]))
          : this.#text(at("displayName"), this.#chance.pick(TEXTS)),
      description: () => this.#text(at("description"), this.#chance.pick(TEXTS)),
      domain: () => this.#text(at("domain"), "software"),
      agentType: () => this.#text(at("agentType"), "validator"),
      subdomain: () => this.#text(at("subdomain"), this.#chance.pick(TEXTS)),
      tags: () => this.#tags(at("tags")),
      risk_level: () => this.#any(at("risk_level"), 1),
      author_notes: () => this.#any(at("author_notes"), 0),
      ...(type === "agent" ? { dependencies: () => this.#dependencies(at("dependencies")) } : {}),
    };
    const chosen = Object.entries(optional).filter(() => this.#chance.of(0.5));
    const makers = this.#chance.shuffle([...Object.entries(required), ...chosen]);
    return this.#map(
      path,
      makers.map(([key, make]) => ({ key, value: make() })),
      isShared ? 1 : 0.15,
    );
  }

  #tags(path: Path): ValueNode {
    if (this.#chance.of(0.2)) return this.#text(path, "one, two");
    return this.#list(path, (item) => this.#text(item, this.#chance.pick(["a", "b c", "d, e"])));
  }

  #dependencies(path: Path): ValueNode {
    const requires = [...path, "requires"];
    const list = this.#list(requires, (item) => this.#reference(item));
    return this.#map(path, [{ key: "requires", value: list }]);
  }

  /** Returns functions that create the blocks with references. */
  #blocks(type: DefinitionType): (() => Entry)[] {
    if (type === "agent") return [];
    if (type === "command")
      return [() => this.#invokes([type, "invokes"]), () => this.#iteration([type, "iteration"])];
    const path = type === "workflow" ? [type, "orchestration", "phases"] : [type, "stages"];
    const list = () => this.#list(path, (item) => this.#phase(type, item));
    if (type === "pipeline") return [() => ({ key: "stages", value: list() })];
    const phases = () => ({ key: "phases", value: list() });
    return [() => ({ key: "orchestration", value: this.#map([type, "orchestration"], [phases()]) })];
  }

  #invokes(path: Path): Entry {
    const agents = [...path, "agents"];
    const one = { key: "agent", value: this.#reference([...path, "agent"]) };
    const many = this.#list(agents, (item) => this.#reference(item));
    return { key: "invokes", value: this.#map(path, [one, { key: "agents", value: many }]) };
  }

  #iteration(path: Path): Entry {
    const target = { key: "target_agent", value: this.#reference([...path, "target_agent"]) };
    return { key: "iteration", value: this.#map(path, [target, this.#extra(path, "max_attempts")]) };
  }

  #phase(type: DefinitionType, path: Path): ValueNode {
    const key = type === "workflow" ? "steps" : "agents";
    const inner = type === "workflow" ? "agent" : "ref";
    const step = (item: Path) => this.#map(item, [{ key: inner, value: this.#reference([...item, inner]) }]);
    const id = { key: "id", value: this.#text([...path, "id"], "check") };
    const steps = { key, value: this.#list([...path, key], step) };
    return this.#map(path, [id, steps, this.#extra(path, "condition")]);
  }

  #reference(path: Path): ValueNode {
    return this.#text(path, this.#chance.pick(this.#chance.of(0.6) ? FOREIGN : LOCAL));
  }

  /** Creates an entry that no edit changes. Its key or value may be an alias. */
  #extra(path: Path, key: string): Entry {
    const texts = this.#anchored.filter(({ kind }) => kind === "text");
    const target = !this.#hasAliasKey && this.#chance.of(0.15) ? this.#chance.pick(texts) : undefined;
    if (target?.kind !== "text") return { key, value: this.#any([...path, key], 0) };
    this.#hasAliasKey = true;
    return { key: target.text, keyTarget: target, value: this.#any([...path, target.text], 2) };
  }

  #any(path: Path, depth: number): ValueNode {
    if (this.#anchored.length > 0 && this.#chance.of(0.35) && this.#takeAlias())
      return { kind: "alias", target: this.#chance.pick(this.#anchored), path };
    const kind = this.#chance.below(depth > 1 ? 2 : 4);
    if (kind === 0) return this.#text(path, this.#chance.pick(TEXTS));
    if (kind === 1) return this.#other(path, this.#chance.pick(OTHERS));
    if (kind === 2) return this.#list(path, (item) => this.#any(item, depth + 1));
    return this.#map(
      path,
      this.#some(3, (index) => ({ key: `k${index}`, value: this.#any([...path, `k${index}`], depth + 1) })),
    );
  }

  /** Creates a text node or, sometimes, an alias of an anchored node with the same text. */
  #text(path: Path, text: string): ValueNode {
    const equal = this.#anchored.find((node) => node.kind === "text" && node.text === text);
    if (equal && this.#chance.of(0.5) && this.#takeAlias()) return { kind: "alias", target: equal, path };
    return this.#anchor({ kind: "text", text, path }, 0.3);
  }

  #other(path: Path, source: string): ValueNode {
    return this.#anchor({ kind: "other", source, path }, 0.05);
  }

  #list(path: Path, make: (item: Path) => ValueNode): ValueNode {
    const items = this.#some(3, (index) => make([...path, index]));
    return this.#anchor({ kind: "list", items, path }, 0.15);
  }

  #map(path: Path, entries: Entry[], anchorProbability = 0.15): ValueNode {
    return this.#anchor({ kind: "map", entries, path }, anchorProbability);
  }

  #anchor(node: ValueNode, probability: number): ValueNode {
    if (!this.#chance.of(probability)) return node;
    const texts = this.#anchored.filter(({ kind }) => kind === "text");
    const shadowed = node.kind === "text" && this.#chance.of(0.2) ? this.#chance.pick(texts) : undefined;
    // An alias refers to the latest anchor of its name, so no later alias can refer to the earlier anchor.
    if (shadowed) this.#anchored.splice(this.#anchored.indexOf(shadowed), 1);
    node.anchor = shadowed?.anchor ?? `a${this.#names++}`;
    this.#anchored.push(node);
    return node;
  }

  /**
   * Counts an alias. Returns false after the sixth, because nested aliases multiply and a document may have at most
   * fifty alias expansions.
   */
  #takeAlias(): boolean {
    this.#aliases += 1;
    return this.#aliases <= 6;
  }

  #some<Item>(limit: number, make: (index: number) => Item): Item[] {
    return Array.from({ length: this.#chance.below(limit + 1) }, (_, index) => make(index));
  }
}
