import { expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { type CatalogSource, openSource } from "../../../catalog-sync/source.ts";
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import { lockTransaction, tryLockTransaction } from "../../../sql/locks.ts";
import { agentNeeding, publishAgent } from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { documentSource, loadBundledCatalog, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openCatalogServer } from "../../helpers/models/catalog_server.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const MODELS = { acme: { a: {}, b: {}, c: {}, d: {} } };

async function readCatalog(sql: Pool): Promise<unknown[]> {
  return Promise.all(
    ["models", "model_providers", "model_aliases", "model_price_changes"].map(async (table) => [
      ...(await sql`select xmin::text, * from ${sql(table)} order by ctid`),
    ]),
  );
}

async function lastRun(sql: Pool): Promise<Record<string, unknown> | undefined> {
  const [run] =
    await sql`select source, etag, outcome, inserted, error from catalog_syncs order by id desc limit 1`;
  return run;
}

async function countRuns(sql: Pool): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from catalog_syncs`;
  return row.count;
}

/** A source that does not return a document until `release()` is called. */
function heldSource(value: unknown): { source: CatalogSource; loading: Promise<void>; release: () => void } {
  const gate = Promise.withResolvers<void>();
  const loading = Promise.withResolvers<void>();
  const plain = documentSource(value);
  return {
    loading: loading.promise,
    release: gate.resolve,
    source: {
      ...plain,
      async load(given) {
        loading.resolve();
        await gate.promise;
        return plain.load(given);
      },
    },
  };
}

for (const [what, value, error] of [
  ["no provider", {}, "the document has no provider"],
  ["no model", { acme: { name: "Acme", models: {} } }, "the document has no model"],
  ["the wrong shape", [1], "the document is not a JSON object of providers"],
  ["only unreadable rows", makeDocument({ acme: { a: { cost: 1 } } }), "the document has no model"],
] as const) {
  test(`a document with ${what} is refused, changes nothing, and is recorded`, async () => {
    await using db = await openTestDatabase();
    await syncFrom(db.sql, documentSource(makeDocument(MODELS)));
    const before = await readCatalog(db.sql);
    expect(await syncFrom(db.sql, documentSource(value))).toMatchObject({ outcome: "refused", error });
    expect(await readCatalog(db.sql)).toEqual(before);
    expect(await lastRun(db.sql)).toMatchObject({ source: "test", outcome: "refused", inserted: 0, error });
  });
}

test("a forced sync accepts an empty document, but never a document that is not a catalog", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentSource(makeDocument(MODELS)));
  for (const [value, reason] of [
    [[], "the document is not a JSON object of providers"],
    [{ error: "overloaded" }, "the document has no provider: error: expected object"],
  ] as const) {
    expect(await syncFrom(sql, documentSource(value), { force: true })).toMatchObject({
      outcome: "refused",
      error: reason,
    });
  }
  expect(await syncFrom(sql, documentSource({}), { force: true })).toMatchObject({
    outcome: "changed",
    counts: { gone: 4, unchanged: 0 },
  });
});

for (const [what, answer, error] of [
  [
    "answers 500",
    (response: ServerResponse) => void response.writeHead(500).end(),
    "it answered with status 500",
  ],
  [
    "sends half a document",
    (response: ServerResponse) => void response.end('{"acme":'),
    "the document is not JSON: JSON Parse error: Unexpected EOF",
  ],
  ["never answers", () => {}, "it did not send the whole document within 0.1 s"],
] as const) {
  test(`a source that ${what} changes nothing, and the secrets in its URL are neither logged nor stored`, async () => {
    await using db = await openTestDatabase();
    await using server = await openCatalogServer(answer);
    await syncFrom(db.sql, documentSource(makeDocument(MODELS)));
    const before = await readCatalog(db.sql);
    const url = server.url.replace("http://", "http://user:pass-word@").concat("?token=hunter2");
    const lines: string[] = [];
    // Only the source that never responds may time out, however busy the machine is.
    const timeoutMs = what === "never answers" ? 100 : 30_000;
    const report = await syncFrom(db.sql, openSource(url, { timeoutMs }), {
      onLine: (line) => lines.push(line),
    });
    expect(report).toMatchObject({ outcome: "failed", error });
    expect(await readCatalog(db.sql)).toEqual(before);
    const run = await lastRun(db.sql);
    expect(run).toEqual({ source: server.url, etag: null, outcome: "failed", inserted: 0, error });
    expect(lines.join("")).toContain(server.url);
    expect(lines.join("") + JSON.stringify(run)).not.toMatch(/pass-word|hunter2/);
  });
}

test("a source is requested with an ETag only if the stored catalog came from that source", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using server = await openCatalogServer((response, request) => {
    if (request.headers["if-none-match"] === '"v1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"v1"' }).end(JSON.stringify(makeDocument(MODELS)));
  });
  const source = openSource(server.url);
  const asked = () => server.requests.at(-1)?.["if-none-match"];
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "changed" });
  expect(asked()).toBeUndefined();
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "unchanged", counts: { unchanged: 4 } });
  expect(asked()).toBe('"v1"');
  expect(await lastRun(sql)).toEqual({
    source: server.url,
    etag: '"v1"',
    outcome: "unchanged",
    inserted: 0,
    error: null,
  });
  // A failed sync keeps the stored ETag, and a sync from another source discards it.
  await syncFrom(sql, documentSource({}));
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "unchanged" });
  expect(asked()).toBe('"v1"');
  await syncFrom(sql, source, { force: true });
  expect(asked()).toBeUndefined();
  await syncFrom(sql, documentSource(makeDocument({ acme: { ...MODELS.acme, e: {} } })));
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "changed", counts: { gone: 1 } });
  expect(asked()).toBeUndefined();
});

test("only one of several concurrent syncs changes the catalog, and busy syncs leave no record", async () => {
  await using db = await openTestDatabase();
  const other = await db.sql.reserve();
  await other`begin`;
  expect(await tryLockTransaction(other, "catalogSync")).toBe(true);
  expect(await syncFrom(db.sql, documentSource(makeDocument(MODELS)))).toEqual({ outcome: "busy" });
  expect(await countRuns(db.sql)).toBe(0);
  await other`rollback`;
  other.release();
  const sources = Array.from({ length: 4 }, () => documentSource(makeDocument(MODELS)));
  const reports = await Promise.all(sources.map((source) => syncFrom(db.sql, source)));
  expect(reports.filter(({ outcome }) => outcome === "changed")).toHaveLength(1);
  expect(reports.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(await countRuns(db.sql)).toBe(reports.filter(({ outcome }) => outcome !== "busy").length);
});

test("a hanging source does not delay other syncs, and its late document does not replace a newer catalog", async () => {
  await using db = await openTestDatabase();
  const older = heldSource(makeDocument(MODELS));
  const hanging = syncFrom(db.sql, older.source);
  await older.loading;
  const newer = documentSource(makeDocument({ acme: { ...MODELS.acme, e: {} } }));
  expect(await syncFrom(db.sql, newer)).toMatchObject({ outcome: "changed", counts: { inserted: 5 } });
  const stored = await readCatalog(db.sql);
  older.release();
  expect(await hanging).toEqual({ outcome: "busy" });
  expect(await readCatalog(db.sql)).toEqual(stored);
  expect(await countRuns(db.sql)).toBe(1);
});

test("a sync holds no advisory lock and no transaction while its source hangs", async () => {
  await using db = await openTestDatabase();
  const held = heldSource(makeDocument(MODELS));
  const hanging = syncFrom(db.sql, held.source);
  await held.loading;
  const [{ count: locks }] = await db.sql<[{ count: number }]>`
    select count(*)
    from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  const [{ count: transactions }] = await db.sql<[{ count: number }]>`
    select count(*)
    from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
  expect([locks, transactions]).toEqual([0, 0]);
  held.release();
  expect(await hanging).toMatchObject({ outcome: "changed" });
});

test("a sync and a publication do not block each other", async () => {
  await using app = await openTestApp();
  const author = await app.make.person();
  const held = heldSource(makeDocument(MODELS));
  const hanging = syncFrom(app.db.sql, held.source);
  await held.loading;
  const yaml = agentNeeding("needing", ["helper"]);
  await publishAgent(app, { key: author.key }, { name: "needing", yaml });
  await app.db.sql.begin(async (tx) => {
    await lockTransaction(tx, "dependencyGraph");
    held.release();
    expect(await hanging).toMatchObject({ outcome: "changed" });
  });
});

test("a sync that loses its connection keeps the last good catalog and records the failure", async () => {
  await using db = await openTestDatabase();
  await loadBundledCatalog(db.sql);
  const before = await readCatalog(db.sql);
  const pool = openPool(db.url, { applicationName: "test-sync", max: 2 });
  try {
    const source = documentSource(
      makeDocument({ acme: Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`m${n}`, {}])) }),
    );
    const lost = await db.sql.begin(async (tx) => {
      await tx`lock table models in exclusive mode`;
      const running = syncFrom(pool, source, { force: true });
      const isCut = async () => {
        const cut = await db.sql`
          select pg_terminate_backend(pid, 5000)
          from pg_stat_activity
          where datname = current_database() and application_name = 'test-sync' and wait_event_type = 'Lock'`;
        return cut.length > 0;
      };
      await waitFor(isCut);
      return running;
    });
    expect(lost).toMatchObject({ outcome: "failed", error: "the catalog could not be stored" });
    expect(await readCatalog(db.sql)).toEqual(before);
    expect(await lastRun(db.sql)).toMatchObject({
      outcome: "failed",
      error: "the catalog could not be stored",
    });
    // The lock was released with the lost connection, and the pool opens a new connection.
    expect(await syncFrom(pool, source, { force: true })).toMatchObject({ outcome: "changed" });
  } finally {
    await pool.end({ timeout: 1 });
  }
});

test("a sync reports why the database accepts no writes", async () => {
  await using db = await openTestDatabase();
  const pool = openPool(db.url, { applicationName: "test-sync", max: 2, readOnly: true });
  try {
    expect(await syncFrom(pool, documentSource(makeDocument(MODELS)))).toMatchObject({
      outcome: "failed",
      error: expect.stringMatching(
        /^the catalog could not be stored: cannot execute .* in a read-only transaction$/,
      ),
    });
  } finally {
    await pool.end({ timeout: 1 });
  }
});

test("a sync reports an unreachable database and does not throw", async () => {
  const pool = openPool("postgres://nobody@127.0.0.1:1/none", { applicationName: "test-sync", max: 2 });
  const lines: string[] = [];
  const report = await syncFrom(pool, documentSource(makeDocument(MODELS)), {
    onLine: (line) => lines.push(line),
  });
  expect(report).toMatchObject({ outcome: "failed", error: "the catalog could not be stored" });
  expect(lines.map((line) => JSON.parse(line).event)).toEqual([
    "catalog_sync.failed",
    "catalog_sync.unrecorded",
  ]);
});

test("a sync changes nothing if PostgreSQL refuses one of its writes", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, documentSource(makeDocument(MODELS)));
  const before = await readCatalog(db.sql);
  // The sync writes aliases last.
  await db.owner`alter table model_aliases add constraint none_check check (alias <> 'gpt-5')`;
  const more = makeDocument({ ...MODELS, openai: { "gpt-5": {} } });
  expect(await syncFrom(db.sql, documentSource(more))).toMatchObject({ outcome: "failed" });
  expect(await readCatalog(db.sql)).toEqual(before);
});

test("a model or family without a name gets no alias, and the sync stores everything else", async () => {
  await using db = await openTestDatabase();
  const models = { nvidia: { "nvidia/": {}, "nvidia/a": {} }, openai: { b: { family: "" } } };
  expect(await syncFrom(db.sql, documentSource(makeDocument(models)))).toMatchObject({
    outcome: "changed",
    counts: { inserted: 2, skipped: 1 },
    notes: [
      "skipped nvidia/nvidia/: id: has no name after its last slash",
      expect.stringMatching(/^unknown openai\/b: family: /),
    ],
  });
  expect([...(await db.sql`select alias from model_aliases order by alias`)]).toEqual([
    { alias: "a" },
    { alias: "b" },
  ]);
});
