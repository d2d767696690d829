import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "./helpers/process/command.ts";

test("a name that no test file has fails before a database is started", async () => {
  const main = join(import.meta.dir, "main.ts");
  const run = await runCommand([process.execPath, main, "test/api", "nosuchfile"]);
  expect(run).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: 'Cannot run "nosuchfile": no test file has this in its path.\n',
  });
});
