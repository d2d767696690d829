/** Runs `bun test` against a test server, without the test groups that cannot run here, and reports the omitted groups. */
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "../deploy/local/bootstrap.ts";
import { untilAborted } from "../shared/process/with_timeout.ts";
import { listMissingGroups, type MissingGroup, TEST_GROUPS } from "./groups/groups.ts";
import { installPackages } from "./groups/install.ts";
import { openTestServer, type TestServer } from "./helpers/postgres/server.ts";

/**
 * The timeout of every test and hook. It only catches tests that hang, because a test that takes one minute can take ten minutes on
 * a busy machine with slow page faults. `waitFor` has a shorter timeout, and its error says what did not happen.
 */
export const TIMEOUT_MS = 1_800_000;

/** The maximum number of failed files to run again. If more files fail, a busy machine is not the reason. */
const MAX_FILES_AGAIN = 15;

/**
 * More workers than cores, because some tests only wait for a timeout or a heartbeat for half a minute. Not many more,
 * because each worker loads and compiles all modules: six workers on two cores took 12 % more processor time than three. The
 * files of a worker share its modules.
 */
const WORKERS = availableParallelism() + 2;

/**
 * Files that take a minute or more and mostly wait. A run of all files starts them first, one after the other on their own
 * worker. In random order, the last of them would often run alone at the end.
 */
const LONG_FILES = [
  "test/citus/distribute_test.ts",
  "test/faults/killed_runner_test.ts",
  "test/hosts/installation_test.ts",
  "test/hosts/many_hosts_test.ts",
  "test/hosts/silent_bucket_test.ts",
  "test/hosts/systemd_test.ts",
];

/**
 * Variables of the test workers. Memory that a test has freed is kept for the next test. The FTL compiler is off, because few
 * functions run long enough to benefit. Where a page fault takes 20 µs, this saves a fifth of the processor time. `spawnService`
 * sets its own variables for the service's processes, so they run as in production. Commands and `bun run start` inherit the
 * workers' variables.
 */
const WORKER_ENV = { MIMALLOC_PURGE_DELAY: "-1", BUN_JSC_useFTLJIT: "0" };

const GROUP_NAMES = TEST_GROUPS.map(({ name }) => name).join(", ");

const TEST_USAGE = `Usage: bun run test [file or folder …] [options]

  --all             fail if anything is left out
  --without GROUP   leave a group out:
                    ${Bun.wrapAnsi(GROUP_NAMES, 60).replaceAll("\n", `\n${" ".repeat(20)}`)}
  --install         install missing programs first (Debian and Ubuntu, as root)

Everything else is passed to \`bun test\`.
`;

interface Options {
  isAll: boolean;
  isInstall: boolean;
  without: readonly string[];
  /** Arguments that are passed to `bun test`. */
  rest: readonly string[];
}

/** Reads the arguments. Throws if a group or a test file does not exist. */
function readOptions({ args, root }: Command): Options {
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
    throw new Error(`Cannot leave out "${unknown}": there is no such group of tests.\n\n${TEST_USAGE}`);
  const files = [...new Bun.Glob("test/**/*_test.ts").scanSync(root)].map((file) => join(root, file));
  // Arguments after an option may be its values.
  const chosen = rest.slice(
    0,
    [...rest, "-"].findIndex((arg) => arg.startsWith("-")),
  );
  const lost = chosen.find((part) => !files.some((file) => file.includes(part.replace(/^\.\//, ""))));
  if (lost !== undefined) throw new Error(`Cannot run "${lost}": no test file has this in its path.`);
  return { isAll: args.includes("--all"), isInstall: args.includes("--install"), without, rest };
}

interface Report {
  passed: number;
  skipped: number;
  /** Failed tests as `path: name`. */
  failures: readonly string[];
  failedFiles: readonly string[];
}

/** Reads a JUnit report. Returns null if `bun test` exited before it wrote a report. */
function readReport(path: string): Report | null {
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8");
  const [root = ""] = /<testsuites [^>]*>/.exec(text) ?? [];
  const count = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const [failed, skipped] = [count("failures"), count("skipped")];
  const failures = [...text.matchAll(FAILED_CASE)].map(({ groups = {} }) => ({
    file: groups["file"] ?? "",
    name: (groups["name"] ?? "").replaceAll(/&#?\w+;/g, (entity) => ENTITIES[entity] ?? entity),
  }));
  return {
    passed: count("tests") - failed - skipped,
    skipped,
    failures: failures.map(({ file, name }) => `${file}: ${name}`),
    failedFiles: [...new Set(failures.map(({ file }) => file))],
  };
}

const FAILED_CASE =
  /<testcase name="(?<name>[^"]*)"[^>]* file="(?<file>[^"]*)"[^>]*[^/]>\s*<(?:failure|error)\b/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&quot;": '"',
  "&apos;": "'",
  "&lt;": "<",
  "&gt;": ">",
};

interface TestRun extends Pick<Command, "root" | "env" | "stop"> {
  server: TestServer;
  args: readonly string[];
  isShown: boolean;
}

/**
 * Runs `bun test` and waits for its exit. `report` is null if no report was written. `errors` counts errors outside of tests,
 * such as files that cannot be loaded. `hasFiles` is false if the arguments select no file, which is a failure.
 */
async function runBunTest({ root, env, stop, server, args, isShown }: TestRun) {
  const report = join(server.directory, `${crypto.randomUUID()}.xml`);
  const hasColors = isShown && process.stdout.isTTY;
  let errors = 0;
  let hasFiles = true;
  const child = await server.supervisor.spawn({
    name: "bun test",
    command: process.execPath,
    args: ["test", `--timeout=${TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${report}`, ...args],
    cwd: root,
    env: {
      ...WORKER_ENV,
      ...env,
      TEST_FOLDER: server.directory,
      ...(server.url === "" ? {} : { TEST_DATABASE_URL: server.url }),
      ...(env["TEST_DATABASE_URL"] ? {} : { TEST_KEEPS_DATABASES: "1" }),
      ...(hasColors ? { FORCE_COLOR: "1" } : {}),
    },
    output: (line, stream) => {
      errors = Number(/^\s*(\d+) errors?$/.exec(Bun.stripANSI(line))?.[1] ?? errors);
      if (line.includes("did not match any test files")) hasFiles = false;
      if (isShown) process[stream].write(`${line}\n`);
    },
    graceMs: 5000,
  });
  const { code } = await untilAborted(child.exited, stop);
  return { code: code ?? 1, errors, hasFiles, report: readReport(report) };
}

/** Runs the chosen tests, or all tests in two concurrent runs. The report is null if one of the runs wrote none. */
async function runChosen(
  run: Omit<TestRun, "args" | "isShown">,
  options: readonly string[],
  rest: readonly string[],
) {
  const shares =
    rest.length > 0
      ? [[`--parallel=${WORKERS}`]]
      : [
          ["--parallel=1", ...LONG_FILES.map((file) => `./${file}`)],
          [`--parallel=${WORKERS - 1}`, ...LONG_FILES.map((file) => `--path-ignore-patterns=${file}`)],
        ];
  const ended = await Promise.all(
    shares.map((share) => {
      const args = ["--no-isolate", "--randomize", ...options, ...share, ...rest];
      return runBunTest({ ...run, args, isShown: true });
    }),
  );
  // All files of one run may be excluded.
  const runs = ended.some(({ hasFiles }) => hasFiles) ? ended.filter(({ hasFiles }) => hasFiles) : ended;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const reports = runs.map(({ report }) => report).filter((report) => report !== null);
  return {
    code: Math.max(...runs.map(({ code }) => code)),
    errors: sum(runs.map(({ errors }) => errors)),
    hasFiles: runs.some(({ hasFiles }) => hasFiles),
    report:
      reports.length < runs.length
        ? null
        : {
            passed: sum(reports.map(({ passed }) => passed)),
            skipped: sum(reports.map(({ skipped }) => skipped)),
            failures: reports.flatMap(({ failures }) => failures),
            failedFiles: reports.flatMap(({ failedFiles }) => failedFiles),
          },
  };
}

interface LeftOut {
  group: MissingGroup;
  tests: number;
}

/** Counts the tests of a group that the arguments select. Loads the group's files without running a test. */
async function countTests(
  run: Omit<TestRun, "args" | "isShown">,
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
  const { report } = await runBunTest({ ...run, args, isShown: false });
  return { group, tests: report?.skipped ?? 0 };
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

/**
 * Runs the files of failed tests again, with no other tests, and returns the exit code of the whole run. A test that
 * fails only on a busy machine passes the second time and is reported as unstable.
 */
async function runAgain(
  run: Omit<TestRun, "args" | "isShown">,
  { code, errors, report }: Awaited<ReturnType<typeof runBunTest>>,
): Promise<number> {
  const files = report?.failedFiles ?? [];
  if (code === 0 || errors > 0 || files.length === 0 || files.length > MAX_FILES_AGAIN) return code;
  process.stdout.write(`\nOnce more, alone: ${files.join(" ")}\n`);
  const second = await runBunTest({ ...run, args: files.map((file) => `./${file}`), isShown: true });
  return second.code;
}

function describeUnstable(failures: readonly string[]): string {
  const lines = failures.map((failure) => `  ${failure}`);
  return ["Unstable: these tests failed, and passed when they ran alone. Mend them.", ...lines, ""].join(
    "\n",
  );
}

/**
 * Returns whether a chosen test imports the database helpers, directly or through files that it imports or lists as tests.
 */
function needsDatabase(root: string, rest: readonly string[]): boolean {
  const chosen = rest.filter((arg) => arg.endsWith("_test.ts")).map((arg) => join(root, arg));
  if (chosen.length === 0 || chosen.length < rest.length || !chosen.every(existsSync)) return true;
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const seen = new Set(chosen);
  for (const file of seen) {
    if (file.includes("/test/helpers/postgres/")) return true;
    const source = readFileSync(file, "utf8");
    for (const { path } of transpiler.scanImports(source)) {
      if (path.startsWith(".") && path.endsWith(".ts")) seen.add(join(file, "..", path));
    }
    const listed = source.matchAll(/^ {2}"(test\/\S+_test\.ts)": \[/gm);
    for (const [, path = ""] of listed) seen.add(join(root, path));
  }
  return false;
}

/** Returns a signal that is aborted when the reader of the output exits, as with `2>&1 | head`. */
function whenUnread(): AbortSignal {
  const unread = new AbortController();
  const abort = () => unread.abort(new Error("Cannot go on: the reader of the output is gone"));
  for (const output of [process.stdout, process.stderr]) output.on("error", abort);
  return unread.signal;
}

/** Runs all tests, or the tests that the arguments select. Returns the exit code. */
export async function runTests(command: Command): Promise<number> {
  if (command.args.includes("--help")) {
    process.stdout.write(TEST_USAGE);
    return 0;
  }
  const { isAll, isInstall, without, rest } = readOptions(command);
  if (isInstall) await installPackages(command, listMissingGroups(command.env));
  const unwanted = TEST_GROUPS.filter(({ name }) => without.includes(name));
  const missing = [
    ...unwanted.map((group) => ({ ...group, faults: ["--without"], packages: [] })),
    ...listMissingGroups(command.env).filter(({ name }) => !without.includes(name)),
  ];
  const hasDatabase = needsDatabase(command.root, rest);
  await using server = await untilAborted(openTestServer(command, { hasDatabase }), command.stop);
  const run = { ...command, server, stop: AbortSignal.any([command.stop, whenUnread()]) };
  const ignored = missing.flatMap(({ files }) => files.map((file) => `--path-ignore-patterns=${file}`));
  const first = await runChosen(run, ignored, rest);
  const counted: LeftOut[] = [];
  for (const group of missing) counted.push(await countTests(run, group, rest));
  const leftOut = counted.filter(({ tests }) => tests > 0);
  const isAllLeftOut = !first.hasFiles && leftOut.length > 0;
  const code = isAllLeftOut ? 0 : await runAgain(run, first);
  const failures = first.report?.failures ?? [];
  const unstable = code === 0 ? failures : [];
  const passed = (first.report?.passed ?? 0) + unstable.length;
  // A file that cannot be loaded fails the run but is not a failed test.
  const failed = code === 0 ? 0 : Math.max(failures.length, 1);
  const absent = leftOut.reduce((sum, { tests }) => sum + tests, 0);
  if (leftOut.length > 0) process.stdout.write(describeLeftOut(leftOut));
  process.stdout.write(`\n${passed} passed, ${failed} failed${absent > 0 ? `, ${absent} left out` : ""}\n`);
  if (unstable.length > 0) process.stdout.write(describeUnstable(unstable));
  const isIncomplete = isAll && leftOut.some(({ group }) => !without.includes(group.name));
  if (isIncomplete) process.stdout.write("Failed: --all leaves nothing out.\n");
  return isIncomplete ? 1 : code;
}
