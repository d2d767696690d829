/** Tests that run a program of the system are in a group that has it, so that they are left out where it is missing. */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { TEST_GROUPS } from "../groups/groups.ts";
import { PROGRAMS, type ProgramName } from "../groups/programs.ts";
import { listFiles, ROOT } from "./source_files.ts";

const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const paths = await listFiles("test/**/*_test.ts");

/** The group of a test file, or of any other file below its folder. */
function groupOf(path: string) {
  return TEST_GROUPS.find(({ files }) => files.some((pattern) => new Bun.Glob(pattern).match(path)));
}

/** The programs that are the first word of a command in this text: of a list, not of `services["nginx"]`. */
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

/** The text of a test file, and that of the helpers that it imports. */
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
