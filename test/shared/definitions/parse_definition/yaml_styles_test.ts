import { expect, test } from "bun:test";
import { normalizeDefinition } from "../../../../api/documents/normal_form.ts";
import { diffFields, diffSections } from "../../../../shared/definitions/diff.ts";
import { hashDefinition } from "../../../../shared/definitions/hash_definition.ts";
import type { DefinitionSource } from "../../../../shared/definitions/parse_definition.ts";
import { listEdges } from "../../../../shared/definitions/references.ts";
import { translateDefinition } from "../../../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";
import {
  type Path,
  randomDefinition,
  type ValueNode,
} from "../../../helpers/definitions/random_definitions.ts";
import { writeDocument } from "../../../helpers/definitions/yaml_styles.ts";
import { Chance, randomNumbers } from "../../../helpers/random_numbers.ts";

const SEED = 29_005;
const RANDOM_DOCUMENTS = 200;
const STYLES = 4;
const STYLES_OF_DEMO = 20;

/** Returns everything that the service derives from a document. */
function readings(source: DefinitionSource) {
  return {
    root: JSON.stringify(source.root),
    fields: source.fields,
    hash: hashDefinition(source.root),
    edges: listEdges(source),
    translation: translateDefinition(source),
    normalForm: normalizeDefinition(source),
  };
}

/** Writes a document in several random styles. Expects all of them to have the same readings and no differences. */
function expectSameReadings(chance: Chance, { type, root, styles, about }: StyledDocument): void {
  const write = () => writeDocument(chance, root).map(({ text }) => text);
  const first = parsed(write().join(""), type);
  const wanted = readings(first);
  for (let style = 1; style < styles; style++) {
    const yaml = write().join("");
    const source = parsed(yaml, type);
    expect(readings(source), `${about}\n${yaml}`).toEqual(wanted);
    expect(diffFields(first, source).fields, `${about}\n${yaml}`).toEqual([]);
    const { added, removed, modified } = diffSections(first, source);
    expect([...added, ...removed, ...modified], `${about}\n${yaml}`).toEqual([]);
  }
}

interface StyledDocument {
  type: DefinitionType;
  root: ValueNode;
  styles: number;
  about: string;
}

test("a random document yields the same columns, Markdown, graph, hash and normal form in every YAML style", () => {
  for (let seed = SEED; seed < SEED + RANDOM_DOCUMENTS; seed++) {
    const chance = new Chance(randomNumbers(seed));
    expectSameReadings(chance, { ...randomDefinition(chance), styles: STYLES, about: `seed ${seed}` });
  }
});

test.each(readDemoDefinitions())(
  "$file yields the same columns, Markdown, graph, hash and normal form in every YAML style",
  ({ file, type, yaml }) => {
    const chance = new Chance(randomNumbers(SEED + file.length));
    const source = parsed(yaml, type);
    const root = new NodeMaker(chance).node([], source.root);
    expect(
      readings(
        parsed(
          writeDocument(chance, root)
            .map(({ text }) => text)
            .join(""),
          type,
        ),
      ),
    ).toEqual(readings(source));
    expectSameReadings(chance, { type, root, styles: STYLES_OF_DEMO, about: file });
  },
);

/** Converts plain values to nodes. Some repeated texts become aliases of their first occurrence. */
class NodeMaker {
  readonly #chance: Chance;
  readonly #texts = new Map<string, ValueNode>();
  #anchors = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  node(path: Path, value: unknown): ValueNode {
    if (Array.isArray(value)) {
      return { kind: "list", path, items: value.map((item, index) => this.node([...path, index], item)) };
    }
    if (typeof value === "string") return this.#text(path, value);
    if (typeof value !== "object" || value === null) return { kind: "other", path, source: String(value) };
    const entries = Object.entries(value).map(([key, item]) => ({
      key,
      value: this.node([...path, key], item),
    }));
    return { kind: "map", path, entries };
  }

  #text(path: Path, text: string): ValueNode {
    const target = this.#texts.get(text);
    if (target && this.#chance.of(0.7)) {
      target.anchor ??= `a${++this.#anchors}`;
      return { kind: "alias", path, target };
    }
    const node: ValueNode = { kind: "text", path, text };
    if (!target) this.#texts.set(text, node);
    return node;
  }
}
