/** Runs `bun test` against a test server, without the groups of tests that cannot run here, and says what it left out. */
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "../deploy/local/bootstrap.ts";
import { StartError } from "../deploy/local/start_error.ts";
import type { Supervisor } from "../deploy/local/supervisor.ts";
import { untilAborted } from "../deploy/local/wait.ts";
import { listMissingGroups, type MissingGroup, TEST_GROUPS } from "./groups/groups.ts";
import { installPackages } from "./groups/install.ts";
import { openTestServer, type TestServer } from "./helpers/postgres/server.ts";

/** Bounds a test that hangs. Tests that start whole processes or browsers share two cores with everything else. */
const TIMEOUT_MS = 240_000;

/** A test that fails because the machine is busy gets one more try. The output shows both: "(pass) … (attempt 2)". */
const RETRIES = 1;

/**
 * More than there are cores: some tests do nothing for half a minute but wait for a timeout or a heartbeat. Files of a
 * worker share its modules.
 */
const WORKERS = availableParallelism() + 2;

const TEST_USAGE = `Usage: bun run test [file or folder …] [options]

  --all             fail if anything is left out
  --without GROUP   leave a group out: ${TEST_GROUPS.map(({ name }) => name).join(", ")}
  --install         install missing programs first (Debian and Ubuntu, as root)

Everything else is passed to \`bun test\`.
`;

interface Options {
  isAll: boolean;
  isInstall: boolean;
  without: readonly string[];
  /** For `bun test`. */
  rest: readonly string[];
}

/** Reads the arguments; throws StartError for a group that does not exist. */
function readOptions(args: readonly string[]): Options {
  const without: string[] = [];
  const rest: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--without") {
      index += 1;
      without.push(args[index] ?? "");
    } else if (arg !== "--all" && arg !== "--install") {
      rest.push(arg);
    }
  }
  const unknown = without.find((name) => !TEST_GROUPS.some((group) => group.name === name));
  if (unknown !== undefined)
    throw new StartError(`No group of tests is called "${unknown}".\n\n${TEST_USAGE}`);
  return { isAll: args.includes("--all"), isInstall: args.includes("--install"), without, rest };
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The counts of a JUnit report's root element; `null` when `bun test` ended before it wrote one. */
function readCounts(report: string): Counts | null {
  if (!existsSync(report)) return null;
  const [root = ""] = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8")) ?? [];
  const count = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const [failed, skipped] = [count("failures"), count("skipped")];
  return { passed: count("tests") - failed - skipped, failed, skipped };
}

interface TestRun extends Pick<Command, "root" | "env" | "stop"> {
  server: TestServer;
  args: readonly string[];
  output: Parameters<Supervisor["spawn"]>[0]["output"];
}

/** Runs `bun test` to its end; its counts are null if it wrote no report. */
async function runBunTest({ root, env, stop, server, args, output }: TestRun) {
  const report = join(server.directory, `${crypto.randomUUID()}.xml`);
  const child = await server.supervisor.spawn({
    name: "bun test",
    command: process.execPath,
    args: ["test", `--timeout=${TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${report}`, ...args],
    cwd: root,
    env: { ...env, TEST_DATABASE_URL: server.url },
    output,
    graceMs: 5000,
  });
  const { code } = await untilAborted(child.exited, stop);
  return { code: code ?? 1, counts: readCounts(report) };
}

interface LeftOut {
  group: MissingGroup;
  tests: number;
}

/** Counts the tests of a group among those that the arguments choose: its files are loaded, and no test of them runs. */
async function countTests(
  run: Omit<TestRun, "args" | "output">,
  group: MissingGroup,
  rest: readonly string[],
) {
  const chosen = rest.filter((arg) => !arg.startsWith("-"));
  const files = group.files
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(run.root)])
    .filter((file) => file.endsWith("_test.ts"))
    .filter((file) => chosen.length === 0 || chosen.some((part) => file.includes(part.replace(/^\.\//, ""))));
  if (files.length === 0) return { group, tests: 0 };
  const args = ["--test-name-pattern=^(?!)", ...files.map((file) => `./${file}`)];
  const { counts } = await runBunTest({ ...run, args, output: () => {} });
  return { group, tests: counts?.skipped ?? 0 };
}

function describeLeftOut(leftOut: readonly LeftOut[]): string {
  const lines = leftOut.map(
    ({ group, tests }) =>
      `  ${group.name.padEnd(10)}${String(tests).padStart(4)} ${tests === 1 ? "test " : "tests"}   ${group.faults.join(", ")}`,
  );
  const packages = [...new Set(leftOut.flatMap(({ group }) => group.packages))].sort();
  const install =
    packages.length === 0
      ? []
      : [
          "To install what is missing on Debian or Ubuntu, and run them:",
          `  apt-get install --no-install-recommends ${packages.join(" ")}`,
          "or, as root, `bun run test --install`.",
          "",
        ];
  return ["", "Left out, because something they need is missing:", ...lines, "", ...install].join("\n");
}

/** Runs the tests, or those that the arguments choose; returns the exit code. */
export async function runTests(command: Command): Promise<number> {
  if (command.args.includes("--help")) {
    process.stdout.write(TEST_USAGE);
    return 0;
  }
  const { isAll, isInstall, without, rest } = readOptions(command.args);
  if (isInstall) await installPackages(command, listMissingGroups(command.env));
  const unwanted = TEST_GROUPS.filter(({ name }) => without.includes(name));
  const missing = [
    ...unwanted.map((group) => ({ ...group, faults: ["--without"], packages: [] })),
    ...listMissingGroups(command.env).filter(({ name }) => !without.includes(name)),
  ];
  await using server = await untilAborted(openTestServer(command), command.stop);
  const run = { ...command, server };
  const ignored = missing.flatMap(({ files }) => files.map((file) => `--path-ignore-patterns=${file}`));
  const fixed = [`--parallel=${WORKERS}`, "--no-isolate", "--randomize", `--retry=${RETRIES}`];
  const { code, counts } = await runBunTest({
    ...run,
    args: [...fixed, ...ignored, ...rest],
    output: "inherit",
  });
  const counted: LeftOut[] = [];
  for (const group of missing) counted.push(await countTests(run, group, rest));
  const leftOut = counted.filter(({ tests }) => tests > 0);
  const passed = counts?.passed ?? 0;
  // A file that does not load fails the run without being a failed test.
  const failed = code === 0 ? (counts?.failed ?? 0) : Math.max(counts?.failed ?? 0, 1);
  const absent = leftOut.reduce((sum, { tests }) => sum + tests, 0);
  if (leftOut.length > 0) process.stdout.write(describeLeftOut(leftOut));
  process.stdout.write(`\n${passed} passed, ${failed} failed${absent > 0 ? `, ${absent} left out` : ""}\n`);
  const isIncomplete = isAll && leftOut.some(({ group }) => !without.includes(group.name));
  if (isIncomplete) process.stdout.write("Failed: --all leaves nothing out.\n");
  return isIncomplete ? 1 : code;
}
