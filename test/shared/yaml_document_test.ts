import { expect, test } from "bun:test";
import { readYaml } from "../../shared/yaml_document.ts";

const MAX_BYTES = 153_600;

function fill(piece: string): string {
  return piece.repeat(Math.floor(MAX_BYTES / piece.length));
}

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

function readValue(text: string): unknown {
  const read = readYaml(text);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.document.value;
}

function problemsOf(text: string): string[] {
  const read = readYaml(text);
  return read.ok
    ? []
    : read.problems.map(({ path, message, line, column }) => `${path} ${line}:${column} ${message}`);
}

/** Nine maps, each ten times the one before. */
const ALIAS_BOMB = lines(
  9,
  (n) =>
    `k${n}: &a${n} [${Array(10)
      .fill(n === 0 ? "x" : `*a${n - 1}`)
      .join(", ")}]`,
);

const HOSTILE: readonly (readonly [what: string, text: string, because: string])[] = [
  ["50,000 opening brackets", "[".repeat(50_000), "20000 keys"],
  ["50,000 opening braces", "{".repeat(50_000), "20000 keys"],
  ["50,000 brackets, each on a line", "[\n".repeat(50_000), "20000 keys"],
  ["50,000 pairs of brackets", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, "20000 keys"],
  ["50,000 pairs of braces", `${"{".repeat(50_000)}${"}".repeat(50_000)}`, "20000 keys"],
  ["brackets as a value", `a: ${"[".repeat(50_000)}`, "20000 keys"],
  ["braces in a list of a block", `a:\n  - ${"{".repeat(50_000)}`, "20000 keys"],
  ["brackets and braces in turn", fill("[{"), "20000 keys"],
  ["brackets below every key", lines(700, (n) => `k${n}: ${"[".repeat(60)}`), "20000 keys"],
  ["brackets up to the limit of bytes", fill("["), "20000 keys"],
  ["braces", fill("{a: "), "20000 keys"],
  ["dashes on one line", fill("- "), "20000 keys"],
  ["question marks on one line", fill("? "), "20000 keys"],
  ["10,000 opening brackets", "[".repeat(10_000), "nest deeper"],
  ["growing indentation", lines(540, (n) => `${" ".repeat(n)}a:`), "nest deeper"],
  ["dashes that are all closed at once", `${"- ".repeat(19_000)}x\ny: 1\n`, "nest deeper"],
  ["an alias bomb", ALIAS_BOMB, "50 aliases"],
  ["wide aliases", `a: &a [${"x,".repeat(390)}]\nb: [${"*a,".repeat(51)}]`, "50 aliases"],
  ["few aliases of much", `a: &a [${"x,".repeat(5000)}]\nb: [*a, *a, *a, *a]`, "20000 keys"],
  ["a cycle of anchors", "a: &a\n  b: &b\n    c: *a\n", 'use "*a" inside'],
  ["a list that holds itself", "a: &a [*a]", 'use "*a" inside'],
  ["20,000 keys", lines(20_000, (n) => `${n.toString(36)}:`), "20000 keys"],
  ["closing brackets", fill("]"), "20000 keys"],
  ["empty brackets", fill("[]"), "20000 keys"],
  ["commas in brackets", `[${fill(",")}`, "20000 keys"],
  ["many aliases", `a: &a 1\nb: [${fill("*a,")}`, "50 aliases"],
  [
    "anchors, and aliases of each",
    `${lines(9000, (n) => `- &a${n} x`)}\n${lines(51, (n) => `- *a${n}`)}`,
    "50 aliases",
  ],
  ["many anchors", fill("&a "), "20000 keys"],
  ["many tags", fill("- !x\n"), "20000 keys"],
  ["many quotes", fill('"'), "20000 keys"],
  ["many documents", fill("---\n"), "20000 keys"],
  ["many directives", fill("%a\n"), "20000 keys"],
  ["empty lines", fill("\n"), "20000 lines"],
  ["comments", fill("#\n"), "20000 lines"],
  ["bad escapes", `"${fill("\\q")}"`, "escape"],
  ["one key of a megabyte", `${"k".repeat(1_000_000)}: 1`, "1024 chars"],
  ["one quoted key of a megabyte", `"${"k".repeat(1_000_000)}": 1`, "1024 chars"],
  ["one key again and again", lines(6000, () => "a: 1"), "twice"],
  ["a very long key", `${"a".repeat(MAX_BYTES - 10)}: 1`, "1024 chars"],
  ["a list as a key", `? [${"a,".repeat(9000)}]\n: 1`, "as a key"],
];

/** CPU time of this process, the best of six: what others do on the machine is not the parser's fault. */
function cpuMs(run: () => void): number {
  const times = Array.from({ length: 6 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

test.each(HOSTILE)("readYaml() refuses %s in less than 100 ms", (_, text, because) => {
  expect(problemsOf(text)[0]).toContain(because);
  expect(problemsOf(text).length).toBeLessThanOrEqual(50);
  expect(cpuMs(() => readYaml(text))).toBeLessThan(100);
});

test("readYaml() lets pass what is exactly at the limits", () => {
  expect(readValue(`${"[".repeat(64)}${"]".repeat(64)}`)).toBeArray();
  expect(problemsOf(`${"[".repeat(65)}${"]".repeat(65)}`)[0]).toContain("nest deeper");
  const list = (items: number) => `[${"x,".repeat(items - 1)}x]`;
  expect(readValue(list(19_999))).toHaveLength(19_999);
  expect(problemsOf(list(20_000))[0]).toContain("20000 keys");
  const aliases = (count: number) => `a: &a x\nb: [${Array(count).fill("*a").join(", ")}]`;
  expect(readValue(aliases(50))).toHaveProperty("b.49", "x");
  expect(problemsOf(aliases(51))[0]).toContain("50 aliases");
});

test.each([
  ["on: NO\nyes: off", { on: "NO", yes: "off" }],
  ["a: 0o14\nb: 1_000\nc: 010", { a: 12, b: "1_000", c: 10 }],
  ["when: 2026-01-01", { when: "2026-01-01" }],
  ["1.10: a\n~: b\ntrue: c", { "1.10": "a", "~": "b", true: "c" }],
  ["a: &x {b: 1}\nc: *x", { a: { b: 1 }, c: { b: 1 } }],
  ["x: &o {i: &a 1}\ny: &a 2\nz: *o\nw: *a", { x: { i: 1 }, y: 2, z: { i: 1 }, w: 2 }],
  ["a: &x {b: 1}\nc:\n  <<: *x", { a: { b: 1 }, c: { "<<": { b: 1 } } }],
  ["a: !!str 1.0\nb: !!int 3", { a: "1.0", b: 3 }],
  ["\uFEFFa: 1\r\nb: |\r\n  x\r\n  y\r\n", { a: 1, b: "x\ny\n" }],
  ["--- # begins\na: 1\n...\n", { a: 1 }],
  ["constructor: 1\ntoString: 2", { constructor: 1, toString: 2 }],
  ['a: "\\ud83d\\ude00"', { a: "😀" }],
])("readYaml() reads %j as YAML 1.2 core", (text, value) => {
  expect(JSON.stringify(readValue(text))).toBe(JSON.stringify(value));
});

test.each([
  ["a: 1\na: 2", 'a 2:1 Cannot have the key "a" twice'],
  ["a: {b: 1, c: {d: 1, d: 2}}", 'a.c.d 1:21 Cannot have the key "d" twice'],
  ['1: a\n"1": b', '["1"] 2:1 Cannot have the key "1" twice'],
  ["a: 1\n---\nb: 2", "yaml 2:1 Cannot hold several documents"],
  ["a: !mine x", "yaml 1:4 Cannot read the YAML: Unresolved tag: !mine"],
  ["a: !!binary aGk=", "Unresolved tag"],
  ["%YAML 1.1\n---\na: NO", "yaml 1:1 Cannot read YAML 1.1"],
  ["a: *b", 'a 1:4 Cannot find the anchor "&b"'],
  ["a: {{ x }}", "a 1:5 Cannot use a list or a map as a key"],
  ["a:\n\tb: 1", "indent with spaces"],
  ["a: b: c", 'put quotes around a text that contains ": "'],
  ["a: `x`", "put quotes around"],
  ["a: x\n\0", "yaml 2:1 Cannot store the character NUL"],
  ["a: x\nb: \ud800", "yaml 2:4 Cannot store"],
  ['a: "\\0"', "a 1:4 Cannot store"],
  ['a: ["x", "\\ud800"]', "a[1] 1:10 Cannot store"],
  ['"\\0": x', "Cannot store"],
  ["a:\n  __proto__: {b: 1}", 'a 2:3 Cannot use "__proto__" as a key'],
])("readYaml() refuses %j and says where", (text, problem) => {
  expect(problemsOf(text).join("\n")).toContain(problem);
});

test("readYaml() tells everything at once, each with its place", () => {
  expect(problemsOf("a: 1\na: 2\nb: *x\nc: *y\n")).toHaveLength(3);
  expect(problemsOf("a: `x`\nb: y: z\n")).toHaveLength(2);
});

test("readYaml() changes no object but its own", () => {
  readYaml("__proto__: {polluted: yes}\nconstructor: {prototype: {polluted: yes}}");
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});
