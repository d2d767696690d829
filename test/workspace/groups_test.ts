/**
 * A test that runs a system program belongs to a group that lists the program, so that the test is omitted if the
 * program is missing.
 */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { TEST_GROUPS } from "../groups/groups.ts";
import { PROGRAMS, type ProgramName } from "../groups/programs.ts";
import { listFiles, ROOT } from "./source_files.ts";

const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const paths = await listFiles("test/**/*_test.ts");

/** Returns the group of a test file; undefined if the file is in no group. */
function groupOf(path: string) {
  return TEST_GROUPS.find(({ files }) => files.some((pattern) => new Bun.Glob(pattern).match(path)));
}

/**
 * Returns the programs that this text runs: those that are the first item of a command array. Keys such as `services["nginx"]` do
 * not count.
 */
function programsIn(text: string): ProgramName[] {
  return NAMES.filter((name) =>
    PROGRAMS[name].names.some((word) => new RegExp(`(?<![\\w.])\\[\\s*"${word}"[,\\]]`).test(text)),
  );
}

test("every file pattern of a test group matches a test file", () => {
  const patterns = TEST_GROUPS.flatMap(({ files }) => files);
  const idle = patterns.filter((pattern) => !paths.some((path) => new Bun.Glob(pattern).match(path)));
  expect(idle).toEqual([]);
});

test("a test run passes if its only file is left out, but fails if its only file does not exist", async () => {
  const file = "test/api/documents/compare_documents/programs_test.ts";
  const command = [process.execPath, "test/main.ts", "--without", "patches", file];
  const run = Bun.spawn(command, { cwd: ROOT, stdout: "pipe", stderr: "ignore" });
  const text = await new Response(run.stdout).text();
  expect(text).toMatch(/^0 passed, 0 failed, \d+ left out$/m);
  expect(await run.exited).toBe(0);
  const missing = [process.execPath, "test/main.ts", "--without", "patches", "test/no_such_test.ts"];
  expect(await Bun.spawn(missing, { cwd: ROOT, stdout: "ignore", stderr: "ignore" }).exited).toBe(1);
});

/** Returns the text of a test file and of the helpers that it imports. */
async function readWithHelpers(path: string): Promise<string> {
  const text = await Bun.file(join(ROOT, path)).text();
  const helpers = [...text.matchAll(/^(?:import|\}).* from "(\.\.?\/[^"]*helpers\/[^"]+)"/gm)].map(
    ([, name = ""]) => Bun.file(join(ROOT, dirname(path), name)).text(),
  );
  return [text, ...(await Promise.all(helpers))].join("\n");
}

test("a test file that runs a system program belongs to a group that lists the program", async () => {
  const stray: string[] = [];
  for (const path of paths) {
    const known: readonly ProgramName[] = groupOf(path)?.programs ?? [];
    for (const name of programsIn(await readWithHelpers(path))) {
      if (!known.includes(name)) stray.push(`${path} runs ${name}`);
    }
  }
  expect(stray).toEqual([]);
});
