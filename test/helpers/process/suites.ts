/** Runs chosen tests of other files once more, with other variables. */
import { TIMEOUT_MS } from "../../run_tests.ts";
import { runCommand } from "./command.ts";

/** The starts of the names of tests, by file. */
export type Suites = Readonly<Record<string, readonly string[]>>;

/** Runs these tests in one process; rejects unless each of them passes. */
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
  // A test that was renamed is missing.
  if (failed.length > 0 || passed !== names.length || exitCode !== 0) {
    throw new Error(
      [`${passed} of ${names.length} tests passed, exit code ${exitCode}`, ...failed].join("\n"),
    );
  }
}
