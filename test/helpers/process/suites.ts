/** Runs selected tests of other files again, in a different environment. */
import { TIMEOUT_MS } from "../../run_tests.ts";
import { runCommand } from "./command.ts";

/** Test name prefixes by test file. */
export type Suites = Readonly<Record<string, readonly string[]>>;

/** Runs the tests in one process. Rejects unless every prefix matches one test and all of these tests pass. */
export async function runSuites(suites: Suites, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const names = Object.values(suites).flat();
  const pattern = `^ ?(${names.map((name) => name.replaceAll(/\W/g, "\\$&")).join("|")})`;
  const { stderr, exitCode } = await runCommand(
    [
      process.execPath,
      "test",
      `--timeout=${TIMEOUT_MS}`,
      `--test-name-pattern=${pattern}`,
      ...Object.keys(suites),
    ],
    { env: { ...(process.env as Record<string, string>), ...env } },
  );
  const failed = stderr.split("\n").filter((line) => /^\(fail\)|^error:/.test(line));
  const passed = Number(/^ *(\d+) pass$/m.exec(stderr)?.[1]);
  // If a test was renamed, the number of passed tests is too low.
  if (failed.length > 0 || passed !== names.length || exitCode !== 0) {
    throw new Error(
      [`${passed} of ${names.length} tests passed, exit code ${exitCode}`, ...failed].join("\n"),
    );
  }
}
