/** Runs admin commands in this process, against a test's database. */
import { runAdmin } from "../../../api/admin/run_admin.ts";

export interface AdminRun {
  exitCode: number;
  out: string;
  err: string;
}

/**
 * Runs one command with only DATABASE_URL and `env` as its environment. `input` is the password that the command reads.
 */
export async function runCommand(
  databaseUrl: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = "",
): Promise<AdminRun> {
  const run = { out: "", err: "" };
  const exitCode = await runAdmin(
    words,
    { DATABASE_URL: databaseUrl, ...env },
    {
      out: (text) => {
        run.out += text;
      },
      err: (text) => {
        run.err += text;
      },
      isTerminal: false,
      readPassword: async () => input,
    },
  );
  return { exitCode, ...run };
}

/** Runs a command with `--json` and returns its JSON object. Throws if the command fails. */
export async function runJson<Result extends object = Record<string, unknown>>(
  databaseUrl: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = "",
): Promise<Result> {
  const { exitCode, out, err } = await runCommand(databaseUrl, [...words, "--json"], env, input);
  if (exitCode !== 0) throw new Error(`Cannot run "${words.join(" ")}": exit code ${exitCode}, ${err}`);
  return JSON.parse(out);
}

/**
 * Runs a command with `--json` and returns its error message. Throws unless the command fails with the same message on
 * stderr and in the JSON.
 */
export async function runFailing(databaseUrl: string, words: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await runCommand(databaseUrl, [...words, "--json"]);
  const message = err.trimEnd();
  const { error, ...rest } = JSON.parse(out) as { error?: { code?: unknown } };
  const isReported = Bun.deepEquals({ error, ...rest }, { error: { code: error?.code, message } }, true);
  if (exitCode !== 1 || !isReported || typeof error?.code !== "string") {
    throw new Error(`"${words.join(" ")}" did not fail as it should: exit code ${exitCode}, ${err}, ${out}`);
  }
  return message;
}

/** Creates a user with `user create` and the email `<username>@example.com`. */
export function createUser(databaseUrl: string, username: string): Promise<Record<string, unknown>> {
  return runJson(databaseUrl, [
    ...["user", "create", "--username", username],
    ...["--email", `${username}@example.com`, "--password", "seven quiet lamps at noon"],
  ]);
}
