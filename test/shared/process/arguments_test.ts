/** `--help` and wrong arguments of the programs that take none. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const PROGRAMS = { start: "deploy/local/main.ts", api: "api/main.ts", jobs: "jobs/main.ts" };

function run(entry: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, entry, ...args], {
    cwd: ROOT,
    // Nothing is configured, because only the arguments matter.
    env: {},
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

for (const [name, entry] of Object.entries(PROGRAMS)) {
  test(`bun run ${name} --help says what it does and exits with 0`, () => {
    const { exitCode, stdout, stderr } = run(entry, "--help");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith(`Usage: bun run ${name}\n`);
  });

  test(`bun run ${name} refuses an unknown argument and names it`, () => {
    const { exitCode, stdout, stderr } = run(entry, "--port", "3001");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toBe(`Unknown argument "--port". See \`bun run ${name} --help\`.\n`);
  });
}
