/**
 * A test that runs a program of the system is in a group that lists the program, so that it is left out if the
 * program is missing.
 */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { TEST_GROUPS } from "../groups/groups.ts";
import { PROGRAMS, type ProgramName } from "../groups/programs.ts";
import { listFiles, ROOT } from "./source_files.ts";

const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const paths = await listFiles("test/**/*_test.ts");

/** The group of a test file, or of another file in its folder. */
function groupOf(path: string) {
  return TEST_GROUPS.find(({ files }) => files.some((pattern) => new Bun.Glob(pattern).match(path)));
}

/** The programs at the start of commands in this text: array items, not keys like `services["nginx"]`. */
function programsIn(text: string): ProgramName[] {
  return NAMES.filter((name) =>
    PROGRAMS[name].names.some((word) => new RegExp(`(?<![\\w.])\\[\\s*"${word}"[,\\]]`).test(text)),
  );
}

test("every pattern of a group matches test files", () => {
  const patterns = TEST_GROUPS.flatMap(({ files }) => files);
  const idle = patterns.filter((pattern) => !paths.some((path) => new Bun.Glob(pattern).match(path)));
  expect(idle).toEqual([]);
});

test("a file that is left out alone is no failure", async () => {
  const file = "test/api/documents/compare_documents/programs_test.ts";
  const command = [process.execPath, "test/main.ts", "--without", "patches", file];
  const run = Bun.spawn(command, { cwd: ROOT, stdout: "pipe", stderr: "ignore" });
  const text = await new Response(run.stdout).text();
  expect(text).toMatch(/^0 passed, 0 failed, \d+ left out$/m);
  expect(await run.exited).toBe(0);
  const missing = [process.execPath, "test/main.ts", "--without", "patches", "test/no_such_test.ts"];
  expect(await Bun.spawn(missing, { cwd: ROOT, stdout: "ignore", stderr: "ignore" }).exited).toBe(1);
});

/** The text of a test file and of the helpers that it imports. */
async function readWithHelpers(path: string): Promise<string> {
  const text = await Bun.file(join(ROOT, path)).text();
  const helpers = [...text.matchAll(/^(?:import|\}).* from "(\.\.?\/[^"]*helpers\/[^"]+)"/gm)].map(
    ([, name = ""]) => Bun.file(join(ROOT, dirname(path), name)).text(),
  );
  return [text, ...(await Promise.all(helpers))].join("\n");
}

test("a test file that runs a program is in a group that has it", async () => {
  const stray: string[] = [];
  for (const path of paths) {
    const known: readonly ProgramName[] = groupOf(path)?.programs ?? [];
    for (const name of programsIn(await readWithHelpers(path))) {
      if (!known.includes(name)) stray.push(`${path} runs ${name}`);
    }
  }
  expect(stray).toEqual([]);
});
