/** Runs `bun test` against a test server and says how many tests passed. */
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "../deploy/local/bootstrap.ts";
import { untilAborted } from "../deploy/local/wait.ts";
import { openTestServer } from "./helpers/postgres/server.ts";

/** Bounds a test that hangs. Tests that start whole processes or browsers share two cores with everything else. */
const TIMEOUT_MS = 240_000;

/** A test that fails because the machine is busy gets one more try. The output shows both: "(pass) … (attempt 2)". */
const RETRIES = 1;

/**
 * More than there are cores: some tests do nothing for half a minute but wait for a timeout or a heartbeat. Files of a
 * worker share its modules.
 */
const WORKERS = availableParallelism() + 2;

/** The counts of a JUnit report's root element; `null` when `bun test` ended before it wrote one. */
function readCounts(report: string): { passed: number; failed: number } | null {
  if (!existsSync(report)) return null;
  const [root = ""] = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8")) ?? [];
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = count("failures");
  return { passed: count("tests") - failed - count("skipped"), failed };
}

/** What needs root, programs of other machines, or Citus: run by its name only, as `.ci/run` does. */
const ON_REQUEST = ["test/hosts/**", "test/citus/**"];

/** Runs the tests, or those that the arguments choose; returns the exit code of `bun test`. */
export async function runTests(command: Command): Promise<number> {
  await using server = await untilAborted(openTestServer(command), command.stop);
  const isChosen = command.args.some((arg) => !arg.startsWith("-"));
  const report = join(server.directory, "report.xml");
  const child = await server.supervisor.spawn({
    name: "bun test",
    command: process.execPath,
    args: [
      ...["test", `--parallel=${WORKERS}`, "--no-isolate", "--randomize"],
      ...[`--timeout=${TIMEOUT_MS}`, `--retry=${RETRIES}`],
      ...["--reporter=junit", `--reporter-outfile=${report}`],
      ...(isChosen ? [] : ON_REQUEST.map((pattern) => `--path-ignore-patterns=${pattern}`)),
      ...command.args,
    ],
    cwd: command.root,
    env: { ...command.env, TEST_DATABASE_URL: server.url },
    output: "inherit",
    graceMs: 5000,
  });
  const exit = await untilAborted(child.exited, command.stop);
  const counts = readCounts(report) ?? { passed: 0, failed: 0 };
  // A file that does not load fails the run without being a failed test.
  const failed = exit.code === 0 ? counts.failed : Math.max(counts.failed, 1);
  process.stdout.write(`\n${counts.passed} passed, ${failed} failed\n`);
  return exit.code ?? 1;
}
