/** The command line, run as a process. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../helpers/process/command.ts";
import { ROOT } from "../../workspace/source_files.ts";

/** Runs a bash script that can call the command line as `admin`. */
function runScript(script: string) {
  const admin = `${process.execPath} ${join(ROOT, "api/admin/main.ts")}`;
  return runCommand(["bash", "-c", `admin() { ${admin} "$@"; }; ${script}`]);
}

test.each([
  ["--help", 0],
  ["nonsense --json", 2],
])("admin %s exits silently with its usual exit code after its reader exits", async (words, exitCode) => {
  for (const pipe of ["|", "|&"]) {
    // The reader exits before the process writes.
    const run = await runScript(`admin ${words} ${pipe} true; exit "\${PIPESTATUS[0]}"`);
    expect([pipe, run.exitCode]).toEqual([pipe, exitCode]);
    expect(run.stderr).not.toContain("EPIPE");
  }
});

test("a result that cannot be written is reported in one line", async () => {
  const run = await runScript("admin --help > /dev/full");
  expect(run.stderr).toMatch(/^Cannot print the result: ENOSPC[^\n]*\n$/);
  expect(run.exitCode).toBe(1);
});
