import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { verifyPassword } from "../../../../api/accounts/password_rules.ts";
import { COMMANDS } from "../../../../api/admin/commands.ts";
import { runCommand } from "../../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";

/** No server listens on this port. Printing help and refusing arguments need no connection. */
const NOWHERE = "postgres://nobody@127.0.0.1:1/nothing";
const USER = [
  "user",
  "create",
  "--username",
  "ann",
  "--email",
  "ann@example.com",
  "--password",
  "long enough",
];
const MAIN = fileURLToPath(new URL("../../../../api/admin/main.ts", import.meta.url));

test("a call without arguments prints every command with its flags", async () => {
  const { exitCode, out, err } = await runCommand(NOWHERE, []);
  expect(exitCode).toBe(0);
  expect(err).toBe("");
  for (const command of COMMANDS) expect(out).toContain(`  ${command.name}\n`);
  expect(out).toContain("--tier free|hobbyist|plus|pro|enterprise");
  expect(longestLine(out)).toBeLessThanOrEqual(80);
});

function longestLine(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

test("--help after a command explains only that command's flags", async () => {
  const { exitCode, out } = await runCommand(NOWHERE, ["key", "create", "--help"]);
  expect(exitCode).toBe(0);
  expect(out).toStartWith(
    "Usage: bun run admin key create --user U [--org S]\n[--kind user|automation|system] ",
  );
  expect(out).toContain("  --expires ISO\n      expiry date or time (optional)\n");
  expect(out).not.toContain("key revoke");
  for (const command of COMMANDS) {
    const help = await runCommand(NOWHERE, [...command.name.split(" "), "--help"]);
    expect([command.name, help.out.includes("\n\n\n")]).toEqual([command.name, false]);
    expect(longestLine(help.out)).toBeLessThanOrEqual(80);
  }
});

test("--help after a noun lists the noun's commands", async () => {
  const { exitCode, out } = await runCommand(NOWHERE, ["key", "--help"]);
  expect(exitCode).toBe(0);
  expect(out).toStartWith("Usage: bun run admin key <verb> [flags]\n");
  for (const name of ["key create", "key list", "key revoke"]) expect(out).toContain(`  ${name}\n`);
  expect(out).not.toContain("org create");
});

test("`bun run migrate` prints help, and reports failures as JSON with --json", async () => {
  const help = await runCommand(NOWHERE, ["migrate", "--help"]);
  expect(help.exitCode).toBe(0);
  expect(help.out).toStartWith("Usage: bun run admin migrate [--check] [--status]\n");
  for (const [words, code, exitCode] of [
    [["migrate", "--json"], "DATABASE_UNAVAILABLE", 1],
    [["migrate", "--json", "--chek"], "USAGE", 2],
    [["migrate", "--json", "now"], "USAGE", 2],
  ] as const) {
    const result = await runCommand(NOWHERE, words);
    expect(result.exitCode).toBe(exitCode);
    expect(JSON.parse(result.out)).toEqual({ error: { code, message: result.err.trimEnd() } });
  }
});

test.each([
  [["nonsense"], 'Unknown command "nonsense"'],
  [["nonsense", "--help"], 'Unknown command "nonsense"'],
  [["user", "nonsense", "--help"], 'Unknown command "user nonsense". Its commands are create, list, show'],
  [["user"], 'Incomplete command "user". Its commands are create, list, show'],
  [
    ["org", "rename"],
    'Unknown command "org rename". Its commands are create, list, update, set-tier, delete, restore.',
  ],
  [[...USER, "--admin"], "Unknown flag --admin. See `bun run admin user create --help`."],
  [["user", "create", "--username", "ann"], "--email is required: "],
  [["user", "create", "--username", "--json"], "--username needs a value"],
  [["user", "create", "--username=", "--json"], "--username is required: "],
  [[...USER, "--platform-admin=yes"], "--platform-admin takes no value"],
  [[...USER, "extra"], 'Unexpected argument for "user create"'],
  [
    ["user", "show", "ann"],
    'Unexpected argument for "user show". Put quotes around values with spaces, or see `bun run admin user show --help`.',
  ],
  [["import", "--org", "s"], "FILE.zip is required: "],
  [["org", "create", "--slug", "s", "--name", "N", "--tier", "gold"], "--tier must be one of free, hobbyist"],
  [["member", "add", "--org", "s", "--user", "u", "--role", "boss"], "--role must be one of viewer"],
  [["org", "create", "--slug", "Not A Slug", "--name", "N"], "--slug must be"],
  [
    ["user", "create", "--username", "ann", "--email", "nowhere", "--password", "long enough"],
    "--email must be",
  ],
  [
    ["user", "create", "--username", "ann", "--email", "a@b.c", "--password", "short"],
    "--password must have 8",
  ],
  [
    ["user", "create", "--username", "ann", "--email", "a@b.c", "--password", "PASSWORD1"],
    "--password is one of the 10,000 most common passwords",
  ],
  [["user", "create", "--username", "ann", "--email", "a@b.c"], "A password is required"],
  [["user", "update", "--user", "ann"], "Nothing to update"],
  [["user", "update", "--user", "ann", "--website", "javascript:alert(1)"], "--website must be an http"],
  [["org", "update", "--org", "acme", "--name", "x".repeat(201)], "--name must have at most 200"],
  [["session", "revoke"], "Pass either --id or --user"],
  [["session", "revoke", "--id", "uls_secret"], "--id must be the UUID"],
  [["key", "revoke", "--id", "ulr_secret"], "--id must be the UUID"],
  [["key", "create", "--user", "u", "--expires", "tomorrow"], "--expires must be ISO 8601"],
  [["demo", "seed", "--scale", "0"], "--scale must be a whole number"],
])("%p is refused as a usage error", async (words, message) => {
  await using db = await openTestDatabase();
  const { exitCode, out, err } = await runCommand(db.url, words);
  expect(err).toStartWith(message);
  expect(err.trimEnd()).not.toContain("\n");
  expect(exitCode).toBe(2);
  const { error } = words.includes("--json") ? JSON.parse(out) : { error: null };
  if (error) expect(error).toEqual({ code: "USAGE", message: err.trimEnd() });
  else expect(out).toBe("");
});

test("the error for a refused password does not reveal the password", async () => {
  await using db = await openTestDatabase();
  const { err } = await runCommand(db.url, [...USER.slice(0, -1), "s3cret!"]);
  expect(err).not.toContain("s3cret!");
});

test("an unreachable database is reported in one line on stderr", async () => {
  const { exitCode, out, err } = await runCommand(NOWHERE, [...USER, "--json"]);
  expect(exitCode).toBe(1);
  expect(err).toMatch(/^Cannot reach the database: [^\n]+\n$/);
  expect(JSON.parse(out)).toEqual({ error: { code: "DATABASE_UNAVAILABLE", message: err.trimEnd() } });
});

test("commands refuse two URLs that lead to different databases, and change nothing", async () => {
  await using db = await openTestDatabase();
  await using copy = await openTestDatabase();
  for (const words of [USER, ["audit", "verify"], ["migrate"], ["migrate", "--status"]]) {
    const { exitCode, err } = await runCommand(copy.ownerUrl, words, { DATABASE_DIRECT_URL: db.ownerUrl });
    const reason =
      "DATABASE_URL and DATABASE_DIRECT_URL lead to different databases; set both to the same one";
    expect([exitCode, err]).toEqual([1, `Cannot complete the command: ${reason}\n`]);
  }
  expect(await db.sql`select from users`).toHaveLength(0);
});

test("a DATABASE_URL without a reachable database is refused, even if DATABASE_DIRECT_URL works", async () => {
  await using db = await openTestDatabase();
  const missing = new URL(db.url);
  missing.pathname = "/missing";
  for (const url of [NOWHERE, missing.href]) {
    const { exitCode, err } = await runCommand(url, USER, { DATABASE_DIRECT_URL: db.url });
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /^Cannot check that DATABASE_URL and DATABASE_DIRECT_URL lead to the same database\. DATABASE_URL: Cannot .+\. Correct it, or set both to the same URL\n$/,
    );
  }
  expect(await db.sql`select from users`).toHaveLength(0);
});

test("DATABASE_URL and DATABASE_DIRECT_URL may use different roles", async () => {
  await using db = await openTestDatabase();
  const { exitCode, out } = await runCommand(db.url, ["migrate"], { DATABASE_DIRECT_URL: db.ownerUrl });
  expect([exitCode, out]).toEqual([0, "Already up to date.\n"]);
});

test("a command refuses a database whose migrations are not recorded", async () => {
  await using db = await openTestDatabase();
  await db.owner`create schema aside`;
  await db.owner`alter table schema_migrations set schema aside`;
  const { exitCode, err } = await runCommand(db.url, USER);
  expect(exitCode).toBe(1);
  expect(err).toContain("run `bun run migrate`");
  await db.owner`alter table aside.schema_migrations set schema public`;
  const migrated = await runCommand(db.url, ["migrate", "--json"]);
  expect(JSON.parse(migrated.out)).toEqual({ applied: [] });
});

test("the error for a missing DATABASE_URL names the variable", async () => {
  const { exitCode, err } = await runCommand("", USER);
  expect(exitCode).toBe(1);
  expect(err).toStartWith("DATABASE_URL: must be set");
});

test("the process prints one JSON object, sets its exit code and exits", async () => {
  await using db = await openTestDatabase();
  const run = (words: readonly string[]) =>
    Bun.spawn([process.execPath, MAIN, ...words], {
      env: { ...process.env, DATABASE_URL: db.url },
      stdout: "pipe",
      stderr: "pipe",
    });
  const made = run([...USER, "--json"]);
  expect(JSON.parse(await new Response(made.stdout).text())).toMatchObject({ username: "ann" });
  expect(await made.exited).toBe(0);
  const again = run([...USER, "--json"]);
  const message = 'Cannot create user "ann": the username is taken';
  expect(JSON.parse(await new Response(again.stdout).text())).toEqual({ error: { code: "FAILED", message } });
  expect(await new Response(again.stderr).text()).toBe(`${message}\n`);
  expect(await again.exited).toBe(1);
  expect(await run(["user", "create"]).exited).toBe(2);
});

test("the process reads a password from standard input and removes the trailing line break", async () => {
  await using db = await openTestDatabase();
  const child = Bun.spawn([process.execPath, MAIN, ...USER.slice(0, -2), "--json"], {
    env: { ...process.env, DATABASE_URL: db.url },
    stdin: new TextEncoder().encode("long enough\r\n"),
    stdout: "pipe",
  });
  expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ username: "ann" });
  const [row] = await db.sql`select password_hash from users`;
  expect(await verifyPassword("long enough", row?.["passwordHash"])).toBe(true);
});
