/** The sync process: single runs, and runs on a schedule. */
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startSchedule } from "../../catalog-sync/schedule.ts";
import { createLog } from "../../shared/process/log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { decideRefusedSyncs } from "../../sql/models/catalog_syncs.ts";
import { type DocumentModels, documentSource, makeDocument } from "../helpers/models/catalog.ts";
import { openCatalogServer } from "../helpers/models/catalog_server.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { waitFor } from "../helpers/wait_for.ts";

const MAIN = fileURLToPath(new URL("../../catalog-sync/main.ts", import.meta.url));
const UNREACHABLE = "http://127.0.0.1:1/api.json";

function spawnSync(env: Readonly<Record<string, string>>, ...args: string[]) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    env: { CATALOG_SOURCE: "bundled", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function runSync(
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawnSync(env, ...args);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

async function countModels(sql: Pool): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from models where removed_at is null`;
  return row.count;
}

async function listRuns(sql: Pool): Promise<string[]> {
  const rows = await sql<
    { source: string; outcome: string }[]
  >`select source, outcome from catalog_syncs order by id`;
  return rows.map(({ source, outcome }) => `${source} ${outcome}`);
}

test("--once syncs, prints the changes, and exits 0", async () => {
  await using db = await openTestDatabase();
  const env = { DATABASE_URL: db.url };
  expect(await runSync(env, "--once")).toEqual({
    code: 0,
    stdout:
      "Synced the model catalog with the bundled copy of 2026-06-30: 5276 inserted, 0 updated, 0 gone, 0 unchanged, 0 skipped, 0 held\n",
    stderr: "",
  });
  expect((await runSync(env, "--once")).stdout).toContain("5276 unchanged");
  expect(await countModels(db.sql)).toBe(5276);
});

test("--once prints why a sync failed, exits 1 and keeps the last good catalog", async () => {
  await using db = await openTestDatabase();
  await runSync({ DATABASE_URL: db.url }, "--once");
  expect(await runSync({ DATABASE_URL: db.url, CATALOG_SOURCE: UNREACHABLE }, "--once")).toEqual({
    code: 1,
    stdout: "",
    stderr: `Cannot sync the model catalog from ${UNREACHABLE}: it cannot be reached: ECONNREFUSED; serving the bundled copy of 2026-06-30\n`,
  });
  expect(await countModels(db.sql)).toBe(5276);
  expect(await listRuns(db.sql)).toEqual(["bundled changed", `${UNREACHABLE} failed`]);
});

test("on an empty database, --once reports an unreachable source, loads the bundled copy, and exits 1", async () => {
  await using db = await openTestDatabase();
  expect(await runSync({ DATABASE_URL: db.url, CATALOG_SOURCE: UNREACHABLE }, "--once")).toEqual({
    code: 1,
    stdout:
      "Synced the model catalog with the bundled copy of 2026-06-30: 5276 inserted, 0 updated, 0 gone, 0 unchanged, 0 skipped, 0 held\n",
    stderr: `Cannot sync the model catalog from ${UNREACHABLE}: it cannot be reached: ECONNREFUSED; serving the bundled copy of 2026-06-30\n`,
  });
});

test("--once exits 0 with a message if another sync stored a catalog in the meantime", async () => {
  await using db = await openTestDatabase();
  const held = Promise.withResolvers<void>();
  await using server = await openCatalogServer(
    (response) =>
      void held.promise.then(() => response.end(JSON.stringify(makeDocument({ acme: { a: {} } })))),
  );
  const env = { DATABASE_URL: db.url };
  const first = runSync({ ...env, CATALOG_SOURCE: server.url }, "--once");
  await waitFor(() => server.requests.length === 1);
  expect((await runSync({ ...env, CATALOG_SOURCE: "bundled" }, "--once")).code).toBe(0);
  held.resolve();
  expect(await first).toEqual({
    code: 0,
    stdout:
      "Another process has synced the model catalog. Nothing to do; serving the bundled copy of 2026-06-30.\n",
    stderr: "",
  });
  expect(await listRuns(db.sql)).toEqual(["bundled changed"]);
});

test("--dry-run exits 0 and prints no error if the reader closes the pipe", async () => {
  await using db = await openTestDatabase();
  const child = spawnSync({ DATABASE_URL: db.url }, "--dry-run");
  await child.stdout.cancel();
  expect(await new Response(child.stderr).text()).toBe("");
  expect(await child.exited).toBe(0);
});

test("--dry-run prints the plan and writes nothing; --force accepts held prices", async () => {
  await using db = await openTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "ulr-catalog-"));
  try {
    const path = join(directory, "models.json");
    const store = (models: DocumentModels) => writeFile(path, JSON.stringify(makeDocument(models)));
    const acme = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`m${n}`, {}]));
    await store({ openai: { "gpt-5": {}, "gpt-4": {} }, acme });
    const env = { DATABASE_URL: db.url, CATALOG_SOURCE: path };
    await runSync(env, "--once");
    const openai = {
      "gpt-5": { cost: { input: 9, output: 2 } },
      "gpt-4": { cost: { input: 2, output: 2 }, limit: { context: -1 } },
    };
    await store({ openai });
    const doubts =
      "the document waits: it would remove 10 of 12 models, it would remove 10 of 10 models of acme. It is taken if a sync at least an hour later finds the same, or after `bun run admin catalog accept --document`";
    expect(await runSync(env, "--dry-run")).toEqual({
      code: 1,
      stdout: [
        "provider gone: acme",
        "update: openai/gpt-4",
        ...Object.keys(acme).map((id) => `gone: acme/${id}`),
        "price: openai/gpt-4 input: 1 → 2",
        "hold: openai/gpt-5 input: 1 → 9",
        "unknown openai/gpt-4: limit.context: expected integer to be greater or equal to 0",
        `A sync from ${path} would be: 0 inserted, 1 updated, 10 gone, 1 unchanged, 0 skipped, 1 held`,
        `Without --force, ${doubts}\n`,
      ].join("\n"),
      stderr: "",
    });
    expect([await countModels(db.sql), await listRuns(db.sql)]).toEqual([12, [`${path} changed`]]);
    expect(await runSync(env, "--once")).toEqual({
      code: 1,
      stdout: "",
      stderr: `Cannot sync the model catalog from ${path}: ${doubts}; serving the data from ${path} of 2025-06-01\n`,
    });
    await decideRefusedSyncs(db.sql, "rejected");
    const rejected = await runSync(env, "--dry-run");
    expect([rejected.code, rejected.stdout.split("\n").at(-2)]).toEqual([
      1,
      "Without --force, the document waits: it would remove 10 of 12 models, it would remove 10 of 10 models of acme. An operator has rejected it. It is taken only after `bun run admin catalog accept --document`",
    ]);
    await decideRefusedSyncs(db.sql, "accepted");
    const accepted = await runSync(env, "--dry-run");
    expect([accepted.code, accepted.stdout.split("\n").at(-2)]).toEqual([
      0,
      `A sync from ${path} would be: 0 inserted, 1 updated, 10 gone, 1 unchanged, 0 skipped, 1 held`,
    ]);
    expect((await runSync(env, "--once", "--force")).code).toBe(0);
    expect(await countModels(db.sql)).toBe(2);
    await store({ openai: { ...openai, "gpt-4": { cost: { input: 0, output: 0 } } } });
    expect((await runSync(env, "--once")).stdout.split("\n")).toEqual([
      "Prices that wait: `bun run admin catalog held` lists them",
      `Synced the model catalog with the data from ${path} of 2025-06-01: 0 inserted, 1 updated, 0 gone, 1 unchanged, 0 skipped, 1 held`,
      "",
    ]);
    await writeFile(path, "no JSON");
    expect(await runSync(env, "--dry-run")).toMatchObject({ code: 1, stdout: "" });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("--help prints help and exits 0; an invalid argument prints one line and exits 2", async () => {
  for (const args of [["--help"], ["-h"], ["--once", "--help"]]) {
    const help = await runSync({}, ...args);
    expect([help.code, help.stdout.split("\n")[0], help.stderr]).toEqual([
      0,
      "Usage: bun run catalog-sync [--once] [--dry-run] [--force] [--if-empty] [--json]",
      "",
    ]);
  }
  for (const [args, problem] of [
    [["--twice"], "Unknown flag --twice"],
    [["once"], "Unexpected argument"],
    [["--once=yes"], "--once takes no value"],
    [["--if-empty", "--force"], "--if-empty cannot be combined with --force or --dry-run"],
  ] as const) {
    const message = `${problem}. See \`bun run catalog-sync --help\`.`;
    expect(await runSync({}, ...args)).toEqual({ code: 2, stdout: "", stderr: `${message}\n` });
    const { code, stdout, stderr } = await runSync({}, ...args, "--json");
    expect([code, JSON.parse(stdout), stderr]).toEqual([
      2,
      { error: { code: "USAGE", message } },
      `${message}\n`,
    ]);
  }
});

test("--json prints one JSON object, even when the sync fails or cannot start", async () => {
  await using db = await openTestDatabase();
  const env = { DATABASE_URL: db.url };
  const good = await runSync(env, "--once", "--json");
  expect([good.code, JSON.parse(good.stdout)]).toEqual([
    0,
    {
      outcome: "changed",
      source: "bundled",
      dataDate: "2026-06-30",
      inserted: 5276,
      updated: 0,
      gone: 0,
      unchanged: 0,
      skipped: 0,
      held: 0,
      notes: [],
    },
  ]);
  expect(JSON.parse((await runSync(env, "--dry-run", "--json")).stdout)).toMatchObject({
    outcome: "planned",
    unchanged: 5276,
    doubts: [],
  });
  for (const [wrong, args] of [
    [{ ...env, CATALOG_SOURCE: UNREACHABLE }, ["--once"]],
    [{ ...env, CATALOG_SOURCE: UNREACHABLE }, ["--dry-run"]],
    [{ ...env, CATALOG_SYNC_CRON: "never" }, ["--once"]],
    [{}, ["--once"]],
    [{ DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" }, ["--once"]],
  ] as const) {
    const { code, stdout, stderr } = await runSync(wrong, ...args, "--json");
    expect([code, JSON.parse(stdout)]).toEqual([1, { error: { code: "FAILED", message: stderr.trimEnd() } }]);
  }
});

test("--if-empty fills an empty database from the source, and leaves a filled database unchanged", async () => {
  await using db = await openTestDatabase();
  const requests: string[] = [];
  await using server = await openCatalogServer((response, request) => {
    requests.push(request.url ?? "");
    response.end(JSON.stringify(makeDocument({ acme: { a: {} } })));
  });
  const env = { DATABASE_URL: db.url, CATALOG_SOURCE: server.url };
  expect(await runSync(env, "--if-empty")).toMatchObject({ code: 0, stderr: "" });
  expect(await runSync(env, "--if-empty")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect([await countModels(db.sql), requests.length]).toEqual([1, 1]);
});

test("--if-empty waits five seconds for a silent source, then reports it and loads the bundled copy", async () => {
  await using db = await openTestDatabase();
  await using server = await openCatalogServer(() => {});
  expect(await runSync({ DATABASE_URL: db.url, CATALOG_SOURCE: server.url }, "--if-empty")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("the bundled copy of 2026-06-30"),
    stderr: `Cannot sync the model catalog from ${server.url}: it did not send the whole document within 5 s; serving the bundled copy of 2026-06-30\n`,
  });
  expect(await listRuns(db.sql)).toEqual([`${server.url} failed`, "bundled changed"]);
});

test("the process does not start if the schema is outdated or the source or schedule is invalid", async () => {
  await using db = await openTestDatabase();
  await db.owner`delete from schema_migrations where name like '%catalog_syncs__create'`;
  const readProblems = (text: string): string[] =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { message: string }).message);
  const behind = await runSync({ DATABASE_URL: db.url });
  expect([behind.code, behind.stdout, readProblems(behind.stderr)]).toEqual([
    1,
    "",
    [
      'Cannot start: the database lacks 1 migration, from "20261121140300_catalog_syncs__create" on; run `bun run migrate` first',
    ],
  ]);
  const wrong = { DATABASE_URL: db.url, CATALOG_SOURCE: "http://models.dev/", CATALOG_SYNC_CRON: "never" };
  const { code, stderr } = await runSync(wrong);
  expect(code).toBe(1);
  expect(readProblems(stderr).map((line) => line.split(":")[0])).toEqual([
    "CATALOG_SOURCE",
    "CATALOG_SYNC_CRON",
  ]);
});

test("without its source, the process loads the bundled copy, logs the copy's date, and stops on SIGTERM", async () => {
  await using db = await openTestDatabase();
  const child = spawnSync({ DATABASE_URL: db.url, CATALOG_SOURCE: UNREACHABLE });
  await waitFor(async () => (await listRuns(db.sql)).length === 3);
  expect(await listRuns(db.sql)).toEqual([
    `${UNREACHABLE} failed`,
    "bundled changed",
    `${UNREACHABLE} failed`,
  ]);
  expect(await countModels(db.sql)).toBe(5276);
  expect(child.exitCode).toBe(null);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  const lines = (await new Response(child.stdout).text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).event ?? JSON.parse(line).message)).toEqual([
    "syncing",
    "catalog_sync.failed",
    "catalog_sync.done",
    "catalog_sync.past_added",
    "catalog_sync.failed",
    "stopping",
    "stopped",
  ]);
  const messages = lines.map((line) => JSON.parse(line).message);
  expect(messages[2]).toBe("synced the model catalog with the bundled copy of 2026-06-30");
  expect(messages[3]).toBe("added 4462 price changes of 7497 models since 2025-06-04T22:41:51.000Z");
  expect(JSON.parse(lines[4] ?? "")).toEqual({
    level: "warn",
    time: expect.any(String),
    process: "catalog-sync",
    pid: child.pid,
    event: "catalog_sync.failed",
    message: `cannot sync the model catalog from ${UNREACHABLE}: it cannot be reached: ECONNREFUSED; serving the bundled copy of 2026-06-30`,
  });
});

test("SIGTERM aborts a download and leaves no record of the sync", async () => {
  await using db = await openTestDatabase();
  await runSync({ DATABASE_URL: db.url }, "--if-empty");
  await using server = await openCatalogServer(() => {});
  const child = spawnSync({ DATABASE_URL: db.url, CATALOG_SOURCE: server.url });
  await waitFor(() => server.requests.length === 1);
  // The download never finishes, because the server does not respond.
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(await listRuns(db.sql)).toEqual(["bundled changed"]);
});

test("the schedule repeats the sync", async () => {
  await using db = await openTestDatabase();

  const schedule = startSchedule(
    {
      sql: db.sql,
      log: createLog({ level: "silent", process: "test" }),
      shutdownSignal: new AbortController().signal,
    },
    // A leading sixth cron field stands for seconds. Only this test uses it.
    { source: documentSource(makeDocument({ acme: { a: {} } })), cron: "* * * * * *" },
  );
  await waitFor(async () => (await listRuns(db.sql)).length >= 2);
  await schedule.finish();
  expect((await listRuns(db.sql)).slice(0, 2)).toEqual(["test changed", "test unchanged"]);
});
