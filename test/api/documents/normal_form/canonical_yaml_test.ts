import { expect, test } from "bun:test";
import fc from "fast-check";
import { toCanonicalYaml } from "../../../../api/documents/normal_form.ts";
import { readYaml } from "../../../../shared/yaml/document.ts";
import { storableText } from "../../../helpers/definitions/nasty_text.ts";

const text = storableText(60);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    // Documents contain no NaN, infinity or -0. The parser keeps numbers as text if they would print differently.
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }),
  map: fc.dictionary(
    text.filter((key) => key !== "__proto__"),
    tie("value"),
    { maxKeys: 4, noNullPrototype: true },
  ),
}));

function reversed(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(reversed);
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(
    Object.entries(given)
      .toReversed()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

test("toCanonicalYaml() writes YAML that parses to the same value", () => {
  fc.assert(
    fc.property(value, (given) => {
      const read = readYaml(toCanonicalYaml({ agent: given }));
      expect(read).toMatchObject({ ok: true });
      if (read.ok) expect(read.document.value).toEqual({ agent: given });
    }),
    { numRuns: 400 },
  );
});

test("toCanonicalYaml() quotes a key that would be a merge key", () => {
  expect(toCanonicalYaml({ a: { "<<": 1 } })).toBe('a:\n  "<<": 1\n');
});

test("toCanonicalYaml() does not depend on the order of keys", () => {
  fc.assert(
    fc.property(value, (given) =>
      expect(toCanonicalYaml({ agent: reversed(given) })).toBe(toCanonicalYaml({ agent: given })),
    ),
  );
});

test("toCanonicalYaml() sorts keys by their characters, including numbers", () => {
  expect(toCanonicalYaml({ b: 1, 10: 2, 9: 3, a: "x\ny\n", A: ["long ".repeat(40).trim()] })).toBe(
    `"10": 2\n"9": 3\nA:\n  - ${"long ".repeat(40).trim()}\na: |\n  x\n  y\nb: 1\n`,
  );
});
