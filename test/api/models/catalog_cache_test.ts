/** The catalog cache of API processes, including several that share a database. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { startApi } from "../../helpers/process/api_process.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const MODELS = 30;
/** The page size. The models fill two pages. */
const LIMIT = 20;

/** Returns a document in which the name of every model is the version. */
function versionOf(version: number) {
  const ids = Array.from({ length: MODELS }, (_, n) => `m${String(n).padStart(3, "0")}`);
  return documentSource(
    makeDocument({ acme: Object.fromEntries(ids.map((id) => [id, { name: `v${version}` }])) }),
  );
}

interface Page {
  etag: string | null;
  names: string[];
}

async function readPage(url: string, offset = 0): Promise<Page> {
  const response = await fetch(`${url}/api/v1/models?limit=${LIMIT}&offset=${offset}`);
  const { data } = (await response.json()) as { data: { models: { name: string }[] } };
  return { etag: response.headers.get("etag"), names: [...new Set(data.models.map(({ name }) => name))] };
}

test("every process soon serves a new catalog and never mixes two catalogs, and changes made in SQL appear", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, versionOf(1));
  const env = { DATABASE_URL: db.url, RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000" };
  await using first = await startApi(env);
  await using second = await startApi(env);
  const urls = [first.url, second.url];
  await waitFor(async () =>
    (await Promise.all(urls.map((url) => readPage(url)))).every(({ names }) => names[0] === "v1"),
  );

  const seen = new Map<string, Set<string>>();
  const reading = new AbortController();
  const readers = urls.map(async (url) => {
    while (!reading.signal.aborted) {
      for (const offset of [0, LIMIT]) {
        const { etag, names } = await readPage(url, offset);
        expect(names).toHaveLength(1);
        const known = seen.get(etag ?? "") ?? new Set();
        seen.set(etag ?? "", known.add(names[0] ?? ""));
      }
    }
  });
  for (let version = 2; version <= 4; version += 1) {
    await syncFrom(db.sql, versionOf(version));
    for (const url of urls) await waitFor(async () => (await readPage(url)).names[0] === `v${version}`);
  }
  reading.abort();
  await Promise.all(readers);
  // Both processes send the same ETag for a version, and no ETag belongs to two versions.
  expect([...seen.values()].map((names) => [...names]).toSorted()).toEqual([["v1"], ["v2"], ["v3"], ["v4"]]);
  await expectSqlShows(db, first.url);
});

/** Expects that responses show the models and aliases that an operator changes with SQL. */
async function expectSqlShows({ sql }: TestDatabase, url: string): Promise<void> {
  const nameOf = async (path: string) => {
    const response = await fetch(`${url}/api/v1/models/${path}`);
    const body = (await response.json()) as { name?: string; data?: { target: string } };
    return body.name ?? body.data?.target ?? response.status;
  };
  await sql`update models set name = 'renamed' where model_id = 'm001'`;
  await waitFor(async () => (await nameOf("acme/m001")) === "renamed");
  await sql`
    insert into model_aliases (alias, provider, model_id, origin)
    values ('my/own', 'acme', 'm001', 'manual')`;
  await waitFor(async () => (await nameOf("resolve/my/own")) === "acme/m001");
  await sql`delete from model_aliases where alias = 'my/own'`;
  await waitFor(async () => (await nameOf("resolve/my/own")) === 404);
  for (let n = 0; n < 20; n += 1) {
    await sql`update models set name = ${`name ${n}`} where model_id = 'm001'`;
  }
  await waitFor(async () => (await nameOf("acme/m001")) === "name 19");
}

test("a process serves its cached catalog while the catalog cannot be read", async () => {
  await using app = await openTestApp();
  await syncFrom(app.db.sql, versionOf(1));
  expect((await app.request("/api/v1/models")).status).toBe(200);
  await app.db.owner`alter table catalog_syncs rename to elsewhere`;
  await expect(app.deps.catalog.refresh()).rejects.toThrow();
  expect((await app.request("/api/v1/models?limit=1")).status).toBe(200);
  await app.db.owner`alter table elsewhere rename to catalog_syncs`;
  await syncFrom(app.db.sql, versionOf(2));
  await app.deps.catalog.refresh();
  expect(await (await app.request("/api/v1/models?limit=1")).text()).toContain('"name":"v2"');
});

test("an empty catalog returns an empty list, and /metrics reports the last sync", async () => {
  await using app = await openTestApp();
  expect(await (await app.request("/api/v1/models")).json()).toEqual({
    data: {
      models: [],
      aliases: [],
      total: 0,
      limit: 50,
      offset: 0,
      hasMore: false,
      catalog: { source: null, dataDate: null },
    },
  });
  await syncFrom(app.db.sql, versionOf(1));
  await syncFrom(app.db.sql, documentSource({}));
  await app.deps.catalog.refresh();
  const metrics = await (await app.request("/metrics")).text();
  expect(metrics).toContain(`catalog_models ${MODELS}\n`);
  expect(metrics).toContain('catalog_last_sync{outcome="refused"} 1\n');
  expect(metrics).toMatch(/catalog_synced_timestamp_seconds 1\d{9}/);
});
