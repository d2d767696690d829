/** Runs chosen tests of other files once more, with other variables. */
import { expect } from "bun:test";
import { TIMEOUT_MS } from "../../run_tests.ts";
import { runCommand } from "./command.ts";

/** The starts of the names of tests, by file. */
export type Suites = Readonly<Record<string, readonly string[]>>;

/** Runs these tests in one process, and expects each of them to pass. */
export async function expectSuitesToPass(
  suites: Suites,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
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
  expect({ failed, passed, exitCode }).toEqual({ failed: [], passed: names.length, exitCode: 0 });
}
