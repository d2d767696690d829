import { expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import {
  type DefinitionChanges,
  editDefinition,
  type QualifiedName,
} from "../../../../shared/definitions/edit.ts";
import type { DefinitionSource } from "../../../../shared/definitions/parse_definition.ts";
import { listEdges } from "../../../../shared/definitions/references.ts";
import { DEFINITION_TYPES } from "../../../../shared/vocabulary.ts";
import { parsed } from "../../../helpers/definitions/demo_definitions.ts";
import {
  type Path,
  randomDefinition,
  type ValueNode,
} from "../../../helpers/definitions/random_definitions.ts";
import { NEW_KEY, type Piece, writeDocument } from "../../../helpers/definitions/yaml_styles.ts";
import { Chance, randomNumbers } from "../../../helpers/random_numbers.ts";

const DOCUMENTS = 1_000;
const DOCUMENTS_PER_TEST = 250;
const SEED = 29_003;

const TEXTS = [
  "Reviews code",
  "two: words # and more",
  "First line\n\n- an item\n  with more\n```\ncode\n```",
  "ends in a line end\n",
  "",
  " padded ",
  "3.10",
  "tab\tand \\ and \u2028 and \u0007",
];

/** Names of definitions in another organization. Some forks add that organization to references to these names. */
const FOREIGN = ["helper", "checker", "writer"];

/** An edit, and the values that the document must have after the edit. */
interface Edit {
  changes: DefinitionChanges;
  names: QualifiedName[];
  wanted: { path: Path; value: unknown }[];
}

const seeds = Array.from(
  { length: DOCUMENTS / DOCUMENTS_PER_TEST },
  (_, at) => SEED + at * DOCUMENTS_PER_TEST,
);

test.each(seeds)(
  "in 250 random documents from seed %i, an edit changes only the bytes of its values",
  (seed) => {
    for (let at = seed; at < seed + DOCUMENTS_PER_TEST; at += 1) {
      const chance = new Chance(randomNumbers(at));
      const { type, root } = randomDefinition(chance);
      const pieces = writeDocument(chance, root);
      const yaml = pieces.map(({ text }) => text).join("");
      const source = parsed(yaml, type);
      expect(source.root, yaml).toEqual(plainValue(root) as Record<string, unknown>);
      const { changes, names, wanted } =
        at % 2 === 0 ? randomUpdate(chance, source) : randomFork(chance, source);
      const edited = editDefinition(yaml, changes, names);
      const about = `seed ${at}: ${JSON.stringify({ changes, isForeign: names.length > 0 })}\n${yaml}`;
      if (!edited.ok) throw new Error(`${about}\n${JSON.stringify(edited.problems)}`);
      const expected = withValues(source.root, wanted);
      expect(parsed(edited.yaml, type).root, about).toEqual(expected);
      const changed = piecesThatChange(pieces, { before: source.root, after: expected, wanted });
      expectOtherPieces(edited.yaml, { pieces, changed, about });
      const aliases = [...changed].filter(({ target, owner }) => target && !isWanted(owner, wanted));
      expect(edited.replacedAliases.length, about).toBe(aliases.length);
    }
  },
);

/** Returns an edit of one field, of all fields, or of the version. */
function randomUpdate(chance: Chance, source: DefinitionSource): Edit {
  const text = () => chance.pick(TEXTS);
  const fields: DefinitionChanges = {
    displayName: text(),
    description: text(),
    domain: "legal",
    subdomain: text(),
    agentType: "analyst",
    tags: chance.pick([["x"], ["one", "two, three"], [], ["yes", "3.10"]]),
  };
  const single = Object.entries(fields).map(([key, value]) => ({ [key]: value }) as DefinitionChanges);
  const changes = chance.pick([...single, fields, { version: "1.0.1" }]);
  return { changes, names: [], wanted: fieldsOf(source, changes) };
}

/** Returns a fork into the same organization or into another one. */
function randomFork(chance: Chance, source: DefinitionSource): Edit {
  const given = chance.pick([{}, { displayName: chance.pick(TEXTS), description: chance.pick(TEXTS) }]);
  const changes = { name: "my-fork", version: "2.0.0", ...given };
  if (chance.of(0.3)) return { changes, names: [], wanted: fieldsOf(source, changes) };
  const names = DEFINITION_TYPES.flatMap((type) => FOREIGN.map((name) => ({ type, name, orgSlug: "acme" })));
  const references = listEdges(source).flatMap(({ path, text }) => {
    if (typeof text !== "string" || !FOREIGN.includes(text.split("@")[0] ?? "")) return [];
    return [{ path: [source.type, ...path], value: `@acme/${text}` }];
  });
  return { changes, names, wanted: [...fieldsOf(source, changes), ...references] };
}

function fieldsOf({ type, root }: DefinitionSource, changes: DefinitionChanges): Edit["wanted"] {
  return Object.entries(changes)
    .map(([key, value]) => ({ path: [type, "interface", key], value }))
    .filter(({ path, value }) => !isDeepStrictEqual(valueAt(root, path), value));
}

/** Returns the pieces of changed values, and the aliases whose anchors have a new value. */
function piecesThatChange(
  pieces: readonly Piece[],
  { before, after, wanted }: { before: unknown; after: unknown; wanted: Edit["wanted"] },
): Set<Piece> {
  const places = wanted.map(({ path }) =>
    valueAt(before, path) === undefined ? { path: [...path.slice(0, -1), NEW_KEY] } : { path },
  );
  const keepsValue = ({ owner, target }: Piece) => {
    if (!target || wanted.some(({ path }) => path.length < target.path.length && isBelow(target.path, path)))
      return !target;
    const value = owner.at(-1) === "key" ? owner.at(-2) : valueAt(after, owner);
    return isDeepStrictEqual(value, valueAt(after, target.path));
  };
  return new Set(
    pieces.filter((piece) => {
      if (piece.target && keepsValue(piece)) return false;
      return isWanted(piece.owner, places) || !keepsValue(piece);
    }),
  );
}

function isWanted(owner: Path, wanted: readonly { path: Path }[]): boolean {
  return wanted.some(({ path }) => isBelow(owner, path));
}

function isBelow(path: Path, above: Path): boolean {
  return above.every((step, index) => path[index] === step);
}

/** Expects the document to contain all unchanged pieces, in their order. */
function expectOtherPieces(
  document: string,
  { pieces, changed, about }: { pieces: readonly Piece[]; changed: ReadonlySet<Piece>; about: string },
): void {
  const runs = [""];
  for (const piece of pieces) {
    if (changed.has(piece)) runs.push("");
    else runs[runs.length - 1] += piece.text;
  }
  const [first = "", ...rest] = runs;
  const last = rest.pop();
  expect(document.slice(0, first.length), about).toBe(first);
  if (last === undefined) expect(document, about).toBe(first);
  let at = first.length;
  for (const run of rest) {
    const found = document.indexOf(run, at);
    if (found < 0) throw new Error(`Cannot find ${JSON.stringify(run)} in\n${document}\n${about}`);
    at = found + run.length;
  }
  expect(document.slice(Math.max(at, document.length - (last ?? "").length)), about).toBe(last ?? "");
}

function withValues(root: unknown, wanted: Edit["wanted"]): Record<string, unknown> {
  const copy = structuredClone(root) as Record<string, unknown>;
  for (const { path, value } of wanted) {
    const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>;
    parent[path.at(-1) ?? ""] = value;
  }
  return copy;
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | undefined)?.[step],
    root,
  );
}

function plainValue(node: ValueNode): unknown {
  if (node.kind === "alias") return plainValue(node.target);
  if (node.kind === "text") return node.text;
  if (node.kind === "list") return node.items.map(plainValue);
  if (node.kind === "map")
    return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]));
  return scalarOf(node.source);
}

/** Reads a scalar. A number that would not print as it was written is text. */
function scalarOf(source: string): unknown {
  if (source === "" || source === "~" || source === "null") return null;
  if (source === "true") return true;
  return String(Number(source)) === source ? Number(source) : source;
}
