import { expect, test } from "bun:test";
import { readYaml } from "../../../shared/yaml/document.ts";
import { HOSTILE_YAML } from "../../helpers/definitions/hostile_yaml.ts";

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

test.each(HOSTILE_YAML)("readYaml() rejects %s at the first exceeded limit", (_, text, because) => {
  const problems = problemsOf(text);
  expect(problems[0]).toContain(because);
  expect(problems.length).toBeLessThanOrEqual(50);
});

test("readYaml() accepts a document exactly at the limits", () => {
  expect(readValue(`${"[".repeat(64)}${"]".repeat(64)}`)).toBeArray();
  expect(problemsOf(`${"[".repeat(65)}${"]".repeat(65)}`)[0]).toContain("nested deeper");
  const list = (items: number) => `[${"x,".repeat(items - 1)}x]`;
  expect(readValue(list(19_999))).toHaveLength(19_999);
  expect(problemsOf(list(20_000))[0]).toContain("20000 keys");
  const aliases = (count: number) => `a: &a x\nb: [${Array(count).fill("*a").join(", ")}]`;
  expect(readValue(aliases(50))).toHaveProperty("b.49", "x");
  expect(problemsOf(aliases(51))[0]).toContain("50 aliases");
});

test.each([
  ["on: NO\nyes: off", { on: "NO", yes: "off" }],
  ["a: 0o14\nb: 1_000\nc: 010\nd: 12", { a: "0o14", b: "1_000", c: "010", d: 12 }],
  [
    "[3.10, 3.1, 1e3, 0x1F, -0, +1, .5, 1., 0.50]",
    ["3.10", 3.1, "1e3", "0x1F", "-0", "+1", ".5", "1.", "0.50"],
  ],
  ["[12345678901234567890, 1234567890, .inf, .NaN]", ["12345678901234567890", 1234567890, ".inf", ".NaN"]],
  ["[true, TRUE, False, null, ~, ]", [true, "TRUE", "False", null, null]],
  ["a: &x 3.10\nb: *x\nc: !!float 1.50", { a: "3.10", b: "3.10", c: "1.50" }],
  ["when: 2026-01-01", { when: "2026-01-01" }],
  ["1.10: a\n~: b\ntrue: c", { "1.10": "a", "~": "b", true: "c" }],
  ["a: &x {b: 1}\nc: *x", { a: { b: 1 }, c: { b: 1 } }],
  ["x: &o {i: &a 1}\ny: &a 2\nz: *o\nw: *a", { x: { i: 1 }, y: 2, z: { i: 1 }, w: 2 }],
  ["a: {'<<': x}", { a: { "<<": "x" } }],
  ["a: !!str 1.0\nb: !!int 3", { a: "1.0", b: 3 }],
  ["\uFEFFa: 1\r\nb: |\r\n  x\r\n  y\r\n", { a: 1, b: "x\ny\n" }],
  ["--- # begins\na: 1\n...\n", { a: 1 }],
  ["constructor: 1\ntoString: 2", { constructor: 1, toString: 2 }],
  ['a: "\\ud83d\\ude00"', { a: "😀" }],
])("readYaml() reads %j", (text, value) => {
  expect(JSON.stringify(readValue(text))).toBe(JSON.stringify(value));
});

test.each([
  ["a: 1\na: 2", 'a 2:1 The key "a" appears twice'],
  ["a: {b: 1, c: {d: 1, d: 2}}", 'a.c.d 1:21 The key "d" appears twice'],
  ['1: a\n"1": b', '["1"] 2:1 The key "1" appears twice'],
  ["a: 1\n---\nb: 2", "yaml 2:1 The text holds several documents"],
  ["a: !mine x", "yaml 1:4 The YAML cannot be parsed: Unresolved tag: !mine"],
  ["a: !!binary aGk=", "Unresolved tag"],
  ["%YAML 1.1\n---\na: NO", "yaml 1:1 YAML 1.1 is not supported"],
  ["a: *b", 'a 1:4 No anchor "&b" precedes this alias'],
  [
    "d: &c {b: 1}\na: {b: 2, <<: *c}",
    'a["<<"] 2:11 Merge keys ("<<") are not part of YAML 1.2. Write the keys',
  ],
  [
    "a: {{ x }}",
    'a 1:5 A list or map cannot be a key. Quote a text that begins with "{" or "[". Write a: "{{ x }}"',
  ],
  [
    "a:\n  - {{ x | y }} # why",
    'a[0] 2:6 A list or map cannot be a key. Quote a text that begins with "{" or "[". Write - "{{ x | y }}"',
  ],
  ["a:\n\tb: 1", "indent with spaces"],
  ["a: b: c", 'put quotes around a text that contains ": "'],
  ["a: `x`", "put quotes around"],
  ["a: &b & c", 'put quotes around a text that begins with * or &. Write a: "&b & c"'],
  ["a: & c", 'put quotes around a text that begins with * or &. Write a: "& c"'],
  [
    "a: {{ topic }} researcher",
    'yaml 1:16 The YAML cannot be parsed: Unexpected scalar at node end. Write a: "{{ topic }} researcher"',
  ],
  ["- key: [draft] x # why", 'Write key: "[draft] x"'],
  ["a: 'it's'", `Write a: "it's"`],
  ["a: `x` y", 'Write a: "`x` y"'],
  ["a: b: c", 'Write a: "b: c"'],
  ["a: | x", "Not a YAML token: x; the text of a block begins on the next line"],
  ["a: x\n\0", "yaml 2:1 The text contains the character NUL"],
  ["a: x\nb: \ud800", "yaml 2:4 The text contains"],
  ['a: "\\0"', "a 1:4 The text contains"],
  ['a: ["x", "\\ud800"]', "a[1] 1:10 The text contains"],
  ['"\\0": x', "The text contains"],
  ["a:\n  __proto__: {b: 1}", 'a 2:3 "__proto__" cannot be a key'],
])("readYaml() rejects %j and reports the position", (text, problem) => {
  expect(problemsOf(text).join("\n")).toContain(problem);
});

test("readYaml() reports all problems at once", () => {
  expect(problemsOf("a: 1\na: 2\nb: *x\nc: *y\n")).toHaveLength(3);
  expect(problemsOf("a: `x`\nb: y: z\n")).toHaveLength(2);
});

test("readYaml() reports a single cause as a single problem", () => {
  expect(problemsOf("a: - x\nb: 1\n")).toHaveLength(1);
  expect(problemsOf("a: }x\nb: 1\nc: 2\n")).toHaveLength(1);
});

test("readYaml() does not change Object.prototype", () => {
  readYaml("__proto__: {polluted: yes}\nconstructor: {prototype: {polluted: yes}}");
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});
