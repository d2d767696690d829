/** Variables read from files, and messages about unusable files. */
import { afterAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAdmin } from "../../../api/admin/run_admin.ts";
import { readStackSettings } from "../../../deploy/local/start.ts";
import { readConfig } from "../../../shared/process/config.ts";
import { FILE_VARIABLES, readVariableFiles } from "../../../shared/process/variable_files.ts";

const directory = await mkdtemp(join(tmpdir(), "ulr-files-"));
afterAll(() => rm(directory, { recursive: true }));
const URL = "postgres://app:hunter2@db.internal/app";

async function writeSecret(content: string): Promise<string> {
  const path = join(directory, crypto.randomUUID());
  await Bun.write(path, content);
  return path;
}

test("each variable can be read from a file, without the file's last newline", async () => {
  for (const name of FILE_VARIABLES) {
    const path = await writeSecret("a value\n\n");
    const { env, problems } = readVariableFiles({ [`${name}_FILE`]: path });
    expect([...problems]).toEqual([]);
    expect(env).toEqual({ [name]: "a value\n" });
  }
  const config = readConfig({ DATABASE_URL_FILE: await writeSecret(`${URL}\n`) });
  expect(config).toMatchObject({ ok: true, config: { databaseUrl: URL } });
});

test("an unusable file is reported in one line that names the variable and path but reveals no content", async () => {
  const missing = join(directory, "missing");
  const empty = await writeSecret("\n");
  const large = await writeSecret("hunter2".repeat(10_000));
  const fifo = join(directory, "fifo");
  Bun.spawnSync(["mkfifo", fifo]);
  for (const [path, reason] of [
    [missing, "it does not exist"],
    [empty, "it is empty"],
    [large, "it is larger than 65536 bytes"],
    [directory, "it is not a regular file"],
    [fifo, "it is not a regular file"],
  ] as const) {
    const result = readConfig({ DATABASE_URL: URL, SMTP_URL_FILE: path });
    expect(result).toEqual({ ok: false, problems: [`SMTP_URL_FILE: cannot read ${path}: ${reason}`] });
  }
});

test("an invalid value in a file is rejected with an error that does not reveal the value", async () => {
  const result = readConfig({ DATABASE_URL_FILE: await writeSecret("mysql://hunter2") });
  expect(result).toEqual({
    ok: false,
    problems: ["DATABASE_URL: must be a postgres:// URL of PostgreSQL 15 or later"],
  });
});

test("setting both a variable and its _FILE variable is rejected", async () => {
  const path = await writeSecret(URL);
  expect(readConfig({ DATABASE_URL: URL, DATABASE_URL_FILE: path })).toEqual({
    ok: false,
    problems: ["DATABASE_URL_FILE: must not be set together with DATABASE_URL"],
  });
  expect(readConfig({ DATABASE_URL: URL, DATABASE_URL_FILE: " " })).toMatchObject({ ok: true });
});

test("bun run start uses the database from DATABASE_URL_FILE instead of an embedded database", async () => {
  const env = { DATABASE_URL_FILE: await writeSecret(`${URL}\n`) };
  expect(readStackSettings(directory, env)).toMatchObject({ config: { databaseUrl: URL } });
});

test("the admin command line reads DATABASE_URL_FILE, and warns about misspelled variables", async () => {
  const path = await writeSecret("postgres://app:hunter2@127.0.0.1:1/app");
  await chmod(path, 0o400);
  let printed = "";
  const terminal = {
    out: () => {},
    err: (text: string) => {
      printed += text;
    },
    isTerminal: false,
    readPassword: async () => "",
  };
  expect(await runAdmin(["migrate"], { DATABASE_URL_FILE: path, EXPORT_STREAM_MAX: "1" }, terminal)).toBe(1);
  expect(printed).toContain(
    "EXPORT_STREAM_MAX: unknown variable, ignored. Did you mean EXPORT_STREAMS_MAX?\n",
  );
  expect(printed).toContain("Cannot reach the database");
  expect(printed).not.toContain("hunter2");
});
