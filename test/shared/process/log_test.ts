import { expect, test } from "bun:test";
import { mintApiKey, mintSessionToken } from "../../../api/http/credentials.ts";
import { createLog, redactSecrets } from "../../../shared/process/log.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

/** Opens a log that keeps its lines. */
function openLog(level = "info") {
  const lines: string[] = [];
  const log = createLog({ level, process: "test", destination: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

test("createLog() writes one JSON object per line, with time, level and process", () => {
  const { log, lines } = openLog();
  log.info({ rows: 3 }, "first\nand\u2028more");
  log.error("second");
  // Splits the line at every character that a reader may treat as a line end.
  expect(lines.map((line) => line.split(/[\n\r\u0085\u2028\u2029]/).length)).toEqual([2, 2]);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    process: "test",
    pid: process.pid,
    rows: 3,
    message: "first\nand\u2028more",
  });
});

test("createLog() omits lines below its level", () => {
  const { log, lines } = openLog("warn");
  log.info("quiet");
  log.warn("loud");
  expect(lines).toHaveLength(1);
});

test("createLog() redacts secrets in fields, messages and errors", () => {
  const secrets = [
    mintApiKey().secret,
    mintSessionToken().secret,
    "pass-word-1",
    "cookie-value",
    "abcdef.ghijkl",
  ];
  const [key, token, password, cookie, foreign] = secrets;
  const { log, lines } = openLog();
  log.info({ authorization: `Bearer ${foreign}`, headers: { authorization: key, cookie } }, "fields");
  log.info({ password, user: { password }, nested: { deep: { text: `key=${key}` } } }, "deep");
  log.info(`Bearer ${foreign} and ${token}`);
  log.error({ err: new Error(`Cannot reach postgres://app:${password}@db/x with ${key}`) }, "failed");
  const text = lines.join("");
  expect(lines).toHaveLength(4);
  for (const secret of secrets) expect(text).not.toContain(secret);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
});

test("redactSecrets() does not change texts without secrets", () => {
  for (const text of ["postgres://db:5432/x", "http://a@b/c", "ulr_short", "Bearer of news", "a:b@c"]) {
    expect(redactSecrets(text)).toBe(text);
  }
});

test("createLog() logs an error's stack and causes, but no row values from PostgreSQL errors", async () => {
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const { email } = await make.user();
  const refused = await make.user({ email }).catch((error: unknown) => error);
  const { log, lines } = openLog();
  log.error({ err: new Error("Cannot make the user", { cause: refused }) }, "failed");
  log.error({ err: refused }, "failed");
  const [wrapped, plain] = lines.map((line) => JSON.parse(line).err);
  expect(wrapped).toMatchObject({
    message: expect.stringMatching(/^Cannot make the user: duplicate key value/),
    stack: expect.stringContaining("log_test.ts"),
  });
  expect(plain).toMatchObject({ code: "23505", constraint_name: "users_email_key" });
  expect(lines.join("")).not.toContain(email);
});

test("openStdout() loses no log line when the process exits immediately after logging", async () => {
  const script = `
    import { createLog, openStdout } from "${import.meta.dir}/../../../shared/process/log.ts";
    const log = createLog({ level: "info", process: "test", destination: openStdout(process) });
    log.info("first");
    await Bun.sleep(1);
    for (let line = 0; line < 1000; line += 1) log.info({ line }, "more");
    process.exit(3);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const lines = (await child.stdout.text()).trimEnd().split("\n");
  expect(await child.exited).toBe(3);
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([undefined, ...Array(1000).keys()]);
});
