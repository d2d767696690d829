/** The command line as a process. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../helpers/process/command.ts";
import { ROOT } from "../../workspace/source_files.ts";

test.each([
  ["--help", 0],
  ["nonsense --json", 2],
])("admin %s ends quietly if its reader has enough, with its own exit code", async (words, exitCode) => {
  // The reader is gone before the process writes.
  const script = `${process.execPath} ${join(ROOT, "api/admin/main.ts")} ${words} | true; exit "\${PIPESTATUS[0]}"`;
  const run = await runCommand(["bash", "-c", script]);
  expect(run.exitCode).toBe(exitCode);
  expect(run.stderr).not.toContain("EPIPE");
});
