/** The commands in package.json. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../helpers/process/command.ts";
import { ROOT } from "./source_files.ts";

const { scripts }: { scripts: Record<string, string> } = await Bun.file(join(ROOT, "package.json")).json();

for (const [name, script] of Object.entries(scripts)) {
  const [, file = "", ...args] = script.split(" ");
  // `prestart` and similar scripts install packages.
  if (!file.endsWith(".ts")) continue;
  test(`bun run ${name} --help prints only its usage and exits 0`, async () => {
    const result = await runCommand([process.execPath, join(ROOT, file), ...args, "--help"]);
    expect(result).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^Usage: /), stderr: "" });
  });
}
