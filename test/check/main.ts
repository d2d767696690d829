/** Entry point of `bun run check`. Every tool runs even if another fails, and one failure fails the whole run. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bootstrap, type Command, elapsed } from "../../deploy/local/bootstrap.ts";
import { openSupervisor } from "../../deploy/local/supervisor.ts";
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { untilAborted } from "../../shared/process/with_timeout.ts";

requireNoArguments(
  process,
  "Usage: bun run check\n\nRuns the linters, the compiler and the rules of the tree.\n",
);

const BIN = "node_modules/.bin";
/**
 * The current compiler. The package `typescript` is version 5, for programs that import it, because version 7 cannot be
 * imported yet.
 */
const TSC = "node_modules/typescript-7/bin/tsc";

/** Lists the commands that Bun runs, each with its display name. */
function listChecks(root: string): [name: string, args: string[]][] {
  const migrations = readdirSync(join(root, "sql/migrations")).map((file) => `sql/migrations/${file}`);
  return [
    ["biome", [`${BIN}/biome`, "check", "--error-on-warnings"]],
    ["tsc", [TSC, "--noEmit", "-p", "."]],
    ["tsc of the dashboard's scripts", [TSC, "--noEmit", "-p", "api/pages/assets"]],
    ["knip", [`${BIN}/knip`]],
    ["squawk", [`${BIN}/squawk`, ...migrations]],
    ["rules of the tree", ["test", "test/workspace/imports_test.ts", "test/workspace/mirror_test.ts"]],
  ];
}

/** Runs all tools. Returns exit code 0 only if none of them fails. */
async function runChecks(command: Command): Promise<number> {
  const { root, env } = command;
  await using supervisor = openSupervisor(command);
  const failed: string[] = [];
  // The tools run concurrently, because most use one core. The output of each is printed when it exits.
  const runs = listChecks(root).map(async ([name, args]) => {
    const startedAt = performance.now();
    const lines: string[] = [];
    const output = (line: string): void => void lines.push(line);
    const child = await supervisor.spawn({ name, command: process.execPath, args, cwd: root, env, output });
    const { code } = await untilAborted(child.exited, command.stop);
    const result = code === 0 ? "ok" : "FAILED";
    process.stdout.write([`── ${name}: ${result} (${elapsed(startedAt)})`, ...lines, "", ""].join("\n"));
    if (code !== 0) failed.push(name);
  });
  await Promise.all(runs);
  process.stdout.write(failed.length === 0 ? "All checks pass\n" : `Failed: ${failed.join(", ")}\n`);
  return failed.length === 0 ? 0 : 1;
}

process.exit(await bootstrap(process, runChecks));
