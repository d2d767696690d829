import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

const PATHS = [
  "/api/v1/models",
  "/api/v1/models?format=csv",
  "/api/v1/models/providers",
  "/api/v1/models/aliases",
  "/api/v1/models/resolve/gpt-5",
  "/api/v1/models/openai/gpt-5",
  "/api/v1/models/history/openai/gpt-5",
  "/api/v1/models/history?model=openai/gpt-5",
];

test("every response has a strong ETag and supports 304, and HEAD has the headers of GET but no body", async () => {
  await using app = await openTestApp();
  await syncFrom(app.db.sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
  for (const path of PATHS) {
    const full = await app.request(path);
    const body = await full.arrayBuffer();
    const etag = full.headers.get("etag") ?? "";
    expect([path, etag]).toEqual([path, expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
    expect(full.headers.get("cache-control")).toBe("public, no-cache");
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const none = await app.request(path, { headers: { "if-none-match": known } });
      expect([path, known, none.status, none.headers.get("etag"), await none.text()]).toEqual([
        path,
        known,
        304,
        etag,
        "",
      ]);
    }
    expect((await app.request(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    const head = await app.request(path, { method: "HEAD" });
    // The CSV is streamed, so its length is not known in advance.
    const length = path.endsWith("csv") ? null : String(body.byteLength);
    expect([
      head.status,
      head.headers.get("etag"),
      head.headers.get("content-length"),
      await head.text(),
    ]).toEqual([200, etag, length, ""]);
    expect(head.headers.get("content-type")).toBe(full.headers.get("content-type"));
    const post = await app.request(path.split("?")[0] ?? "", { method: "POST" });
    expect([path, post.status, post.headers.get("allow")]).toEqual([path, 405, "GET, HEAD"]);
  }
});

test("a response to a request with a credential is private, and a wrong credential returns 401", async () => {
  await using app = await openTestApp();
  await syncFrom(app.db.sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
  const { key } = await app.make.person();
  expect((await app.request("/api/v1/models", { key })).headers.get("cache-control")).toBe(
    "private, no-cache",
  );
  expect((await app.request("/api/v1/models", { key: "ulr_wrong" })).status).toBe(401);
});

test("equal content has equal ETags, and different content has different ETags", async () => {
  await using app = await openTestApp();
  const { sql } = app.db;
  const read = async () => {
    await app.deps.catalog.refresh();
    const response = await app.request("/api/v1/models");
    const { data } = (await response.json()) as { data: { models: { name: string }[] } };
    return { etag: response.headers.get("etag"), name: data.models[0]?.name };
  };
  const document = makeDocument({ openai: { "gpt-5": {} } });
  await syncFrom(sql, documentSource(document));
  const first = await read();
  await syncFrom(sql, documentSource(document));
  expect((await read()).etag).toBe(first.etag);
  await syncFrom(sql, documentSource(makeDocument({ openai: { "gpt-5": { name: "GPT-5!" } } })));
  const third = await read();
  expect(third.etag).not.toBe(first.etag);
  expect(third.name).toBe("GPT-5!");
  await sql`insert into model_aliases (alias, provider, model_id) values ('ours', 'openai', 'gpt-5')`;
  const fourth = await read();
  expect(fourth.etag).not.toBe(third.etag);
  await sql`delete from model_aliases where alias = 'ours'`;
  expect((await read()).etag).toBe(third.etag);
  await syncFrom(sql, documentSource(document));
  expect((await read()).etag).toBe(first.etag);
});

test("a sync without changes changes only the ETags of responses that contain the time of the sync", async () => {
  await using app = await openTestApp();
  const document = makeDocument({ openai: { "gpt-5": {} } });
  const read = async () => {
    await syncFrom(app.db.sql, documentSource(document));
    await app.deps.catalog.refresh();
    const asOf = new Date().toISOString();
    const paths = [...PATHS, `/api/v1/models/openai/gpt-5?asOf=${asOf}`];
    const responses = paths.map(async (path) => {
      const response = await app.request(path);
      return { path, etag: response.headers.get("etag"), body: await response.text() };
    });
    return Promise.all(responses);
  };
  const [first, second] = [await read(), await read()];
  const changed = first.filter(({ body }, index) => body !== second[index]?.body);
  expect(changed.map(({ path }) => path.replace(/\?.*/, ""))).toEqual([
    "/api/v1/models/resolve/gpt-5",
    "/api/v1/models/openai/gpt-5",
    "/api/v1/models/openai/gpt-5",
  ]);
  for (const [index, { path, etag, body }] of first.entries()) {
    expect([path, etag === second[index]?.etag]).toEqual([path, body === second[index]?.body]);
  }
});
