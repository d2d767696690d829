import { expect, test } from "bun:test";
import { type Choice, readChoice } from "./choice.ts";

const KNOWN = ["export", "jobs"];

test.each<[args: string[], choice: Partial<Choice>]>([
  [[], { names: null, isQuick: false, isWritten: true, notesOnly: false }],
  [["--quick"], { names: null, isQuick: true, isWritten: false }],
  [["jobs"], { names: ["jobs"], isQuick: false, isWritten: false }],
  [["jobs", "export", "--write"], { names: ["jobs", "export"], isWritten: true }],
  [["--notes"], { names: null, isWritten: true, notesOnly: true }],
])("the arguments %j are understood", (args, choice) => {
  expect(readChoice(args, KNOWN)).toMatchObject({ ok: true, ...choice });
});

test.each<[args: string[], problem: string | null]>([
  [["--help"], null],
  [["toString"], 'Cannot run the benchmark "toString": there is none of that name'],
  [["--quick", "--write"], "Cannot write the figures of a quick run: they mean nothing"],
  [["--notes", "jobs"], "Cannot take anything beside --notes"],
])("the arguments %j are refused", (args, problem) => {
  expect(readChoice(args, KNOWN)).toEqual({ ok: false, problem });
});

test("an option that there is not is refused", () => {
  expect(readChoice(["--rows", "5"], KNOWN)).toMatchObject({ ok: false });
});
