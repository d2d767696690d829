/** `--help` of all programs, and the errors for unknown arguments of programs without arguments. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const PROGRAMS = { start: "deploy/local/main.ts", api: "api/main.ts", jobs: "jobs/main.ts" };
/** Words that each program's help must contain, in this order. */
const HELP: readonly [name: string, entry: string, words: readonly string[]][] = [
  ["start", PROGRAMS.start, ["docs/configuration.md", "PORT", "DATA_DIR", "DATABASE_URL"]],
  ["api", PROGRAMS.api, ["docs/configuration.md", "DATABASE_URL", "bun run migrate"]],
  ["jobs", PROGRAMS.jobs, ["docs/configuration.md", "DATABASE_URL", "bun run migrate"]],
  ["catalog-sync", "catalog-sync/main.ts", ["CATALOG_SOURCE", "CATALOG_SYNC_CRON", "DATABASE_URL", "--once"]],
  ["admin", "api/admin/main.ts", ["user create", "migrate", "DATABASE_URL"]],
  ["test", "test/main.ts", ["--all", "--without", "citus"]],
  ["bench", "test/bench/main.ts", ["--write", "--quick", "export", "memory"]],
  ["soak", "test/soak/main.ts", ["--minutes", "--no-faults", "--hostile"]],
];

function run(entry: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, entry, ...args], {
    cwd: ROOT,
    // Help and errors about arguments must not depend on variables.
    env: {},
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test.each(HELP)("bun run %s --help prints at most 80 columns and exits with 0", (name, entry, words) => {
  const { exitCode, stdout, stderr } = run(entry, "--help");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^Usage: bun run ${name}\\b[^]*${words.join("[^]*")}`));
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

for (const [name, entry] of Object.entries(PROGRAMS)) {
  test(`bun run ${name} rejects an unknown argument with an error that names the argument`, () => {
    const { exitCode, stdout, stderr } = run(entry, "--port", "3001");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toBe(`Unknown argument "--port". See \`bun run ${name} --help\`.\n`);
  });
}
