/** The command line as a process. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../helpers/process/command.ts";
import { ROOT } from "../../workspace/source_files.ts";

/** Runs a script of bash in which `admin` is the command line. */
function runScript(script: string) {
  const admin = `${process.execPath} ${join(ROOT, "api/admin/main.ts")}`;
  return runCommand(["bash", "-c", `admin() { ${admin} "$@"; }; ${script}`]);
}

test.each([
  ["--help", 0],
  ["nonsense --json", 2],
])("admin %s ends quietly if its reader has enough, with its own exit code", async (words, exitCode) => {
  for (const pipe of ["|", "|&"]) {
    // The reader is gone before the process writes.
    const run = await runScript(`admin ${words} ${pipe} true; exit "\${PIPESTATUS[0]}"`);
    expect([pipe, run.exitCode]).toEqual([pipe, exitCode]);
    expect(run.stderr).not.toContain("EPIPE");
  }
});

test("a result that cannot be written is a failure of one line", async () => {
  const run = await runScript("admin --help > /dev/full");
  expect(run.stderr).toMatch(/^Cannot print the result: ENOSPC[^\n]*\n$/);
  expect(run.exitCode).toBe(1);
});
