import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "./helpers/process/command.ts";

const MAIN = join(import.meta.dir, "main.ts");

test("a run with a name that matches no test file fails before starting a database", async () => {
  const run = await runCommand([process.execPath, MAIN, "test/api", "nosuchfile"]);
  expect(run).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: 'Cannot run "nosuchfile": no test file has this in its path.\n',
  });
});

test("a run fails if the reader of its output closes the pipe", async () => {
  const files = "test/shared/slugs_test.ts test/deploy/local/supervisor_test.ts";
  const script = `"$0" "$1" ${files} 2>&1 | head -1 > /dev/null; exit \${PIPESTATUS[0]}`;
  const run = await runCommand(["bash", "-c", script, process.execPath, MAIN]);
  expect(run.exitCode).toBe(1);
});
