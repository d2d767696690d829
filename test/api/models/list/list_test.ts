import { describe, expect, test } from "bun:test";
import { parseString } from "fast-csv";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import {
  type DocumentModels,
  documentSource,
  loadBundledCatalog,
  makeDocument,
  syncFrom,
} from "../../../helpers/models/catalog.ts";

interface ListBody {
  data: {
    models: { provider: string; modelId: string; [field: string]: unknown }[];
    aliases: Record<string, unknown>[];
    total: number;
    limit: number;
    offset: number;
    hasMore: boolean;
    catalog: { source: string | null; dataDate: string | null };
  };
}

async function openModels(models: DocumentModels): Promise<TestApp> {
  const app = await openTestApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
  await syncFrom(app.db.sql, documentSource(makeDocument(models)));
  return app;
}

async function list(app: TestApp, query = ""): Promise<ListBody["data"]> {
  const response = await app.request(`/api/v1/models${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  return ((await response.json()) as ListBody).data;
}

async function ids(app: TestApp, query: string): Promise<string[]> {
  return (await list(app, query)).models.map(({ provider, modelId }) => `${provider}/${modelId}`);
}

test("the list is sorted by provider and id, in pages of 50, with the aliases of the models on each page", async () => {
  await using app = await openTestApp();
  await loadBundledCatalog(app.db.sql);
  const first = await list(app);
  expect(first).toMatchObject({ total: 5276, limit: 50, offset: 0, hasMore: true });
  expect(first.catalog).toEqual({ source: "bundled", dataDate: "2026-06-30" });
  expect(first.models).toHaveLength(50);
  const last = await list(app, "?limit=200&offset=5200");
  expect(last).toMatchObject({ total: 5276, limit: 200, offset: 5200, hasMore: false });
  expect(last.models).toHaveLength(76);
  expect(await list(app, "?offset=5276")).toMatchObject({ models: [], total: 5276, hasMore: false });

  const all = (
    await Promise.all(
      Array.from({ length: 27 }, (_, page) => 200 * page).map((offset) =>
        list(app, `?limit=200&offset=${offset}`),
      ),
    )
  ).flatMap(({ models }) => models);
  const keys = all.map(({ provider, modelId }) => [provider, modelId] as const);
  expect(keys).toEqual(
    keys.toSorted(([p1, m1], [p2, m2]) => (p1 === p2 ? (m1 < m2 ? -1 : 1) : p1 < p2 ? -1 : 1)),
  );

  const { models, aliases } = await list(app, "?provider=openai&search=gpt-5&limit=200");
  const listed = new Set(models.map(({ modelId }) => modelId));
  expect(aliases).toContainEqual({
    alias: "gpt-5",
    provider: "openai",
    modelId: "gpt-5",
    scope: "global",
    deprecated: false,
  });
  expect(aliases.every(({ provider, modelId }) => provider === "openai" && listed.has(String(modelId)))).toBe(
    true,
  );
});

test("an item has exactly the documented fields, and an unknown value is null or absent", async () => {
  await using app = await openModels({
    acme: {
      full: {
        family: "fam",
        cost: { input: 1, output: 2, cache_read: 0.5, cache_write: 3 },
        reasoning: true,
      },
      none: { cost: undefined, limit: { context: 0, output: 0 }, release_date: "soon", limits: undefined },
      part: { limit: { context: 5, output: 0 } },
    },
  });
  const { models } = await list(app);
  expect(models).toEqual([
    {
      provider: "acme",
      modelId: "full",
      name: "full",
      family: "fam",
      tier: "standard",
      status: "available",
      capabilities: {
        vision: false,
        tools: true,
        streaming: true,
        reasoning: true,
        structuredOutput: true,
        attachment: false,
      },
      capabilitiesStated: ["vision", "tools", "reasoning", "structuredOutput", "attachment"],
      limits: { context: 128_000, output: 8192 },
      cost: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 3 },
      releaseDate: "2025-06-01",
    },
    expect.objectContaining({ modelId: "none", family: null, cost: null, limits: null, releaseDate: null }),
    expect.objectContaining({ modelId: "part", limits: { context: 5 }, cost: { input: 1, output: 2 } }),
  ]);
});

test("the list names the source of the catalog and the date of its data", async () => {
  await using app = await openTestApp();
  expect((await list(app)).catalog).toEqual({ source: null, dataDate: null });
  const models = { acme: { a: { last_updated: "2026-02-03" }, b: { last_updated: "2999-01-01" }, c: {} } };
  for (const [label, source] of [
    ["https://models.dev/api.json", "models.dev"],
    ["http://127.0.0.1:8080/models?", "127.0.0.1:8080"],
    ["/srv/private/models.json", "file"],
    ["models.json.gz", "file"],
    ["bundled", "bundled"],
  ] as const) {
    // Every sync has the same models. Only the source changes.
    await syncFrom(app.db.sql, { ...documentSource(makeDocument(models)), label });
    await app.deps.catalog.refresh();
    expect((await list(app)).catalog).toEqual({ source, dataDate: "2026-02-03" });
  }
  const undated = {
    acme: { a: { last_updated: "soon" }, b: { last_updated: null }, c: { last_updated: 7 } },
  };
  await syncFrom(app.db.sql, documentSource(makeDocument(undated)));
  await app.deps.catalog.refresh();
  expect((await list(app)).catalog).toEqual({ source: "file", dataDate: null });
});

describe("filters", () => {
  const MODELS: DocumentModels = {
    acme: {
      "Big/Vision": {
        name: "Seeing One",
        modalities: { input: ["text", "image"], output: ["text"] },
        cost: { input: 50, output: 50 },
      },
      "deepseek-r1": { reasoning: true, attachment: true },
      "small-preview": { cost: { input: 0.1, output: 0.1 }, tool_call: false, structured_output: false },
    },
    zeta: { old: { status: "deprecated" }, embedding: {} },
  };

  test("select the matching models, alone and combined", async () => {
    await using app = await openModels(MODELS);
    for (const [query, expected] of [
      ["?provider=zeta", ["zeta/embedding", "zeta/old"]],
      ["?provider=nobody", []],
      ["?tier=premium", ["acme/Big/Vision"]],
      ["?tier=reasoning", ["acme/deepseek-r1"]],
      ["?tier=budget&provider=acme", ["acme/small-preview"]],
      ["?status=preview", ["acme/small-preview"]],
      ["?status=deprecated", ["zeta/old"]],
      ["?capability=vision", ["acme/Big/Vision"]],
      ["?capability=attachment&capability=reasoning", ["acme/deepseek-r1"]],
      ["?capability=vision&capability=reasoning", []],
      [
        "?capability=structuredOutput&capability=structuredOutput&provider=zeta",
        ["zeta/embedding", "zeta/old"],
      ],
      ["?capability=streaming&provider=zeta", ["zeta/old"]],
      ["?search=SEEING", ["acme/Big/Vision"]],
      ["?search=big%2Fvi", ["acme/Big/Vision"]],
      ["?search=%20r1%20", ["acme/deepseek-r1"]],
      ["?search=acme/deepseek-r1", ["acme/deepseek-r1"]],
      ["?search=acme", []],
      ["?search=/", ["acme/Big/Vision"]],
      [
        "?search=",
        ["acme/Big/Vision", "acme/deepseek-r1", "acme/small-preview", "zeta/embedding", "zeta/old"],
      ],
      ["?search=%25", []],
      ["?format=json&limit=1", ["acme/Big/Vision"]],
    ] as const) {
      expect([query, await ids(app, query)]).toEqual([query, [...expected]]);
    }
  });

  test("exclude models that the source no longer lists unless includeGone is set", async () => {
    await using app = await openModels(MODELS);
    const { acme, zeta } = MODELS;
    await syncFrom(
      app.db.sql,
      documentSource(makeDocument({ acme: { ...acme }, zeta: { old: { ...zeta?.["old"] } } })),
    );
    for (const [query, expected] of [
      ["?provider=zeta", ["zeta/old"]],
      ["?status=deprecated", ["zeta/old"]],
      ["?provider=zeta&includeGone=false", ["zeta/old"]],
      ["?provider=zeta&includeGone=true", ["zeta/embedding", "zeta/old"]],
      ["?status=deprecated&includeGone=true", ["zeta/embedding", "zeta/old"]],
      ["?status=available&provider=zeta&includeGone=true", []],
    ] as const) {
      expect([query, await ids(app, query)]).toEqual([query, [...expected]]);
    }
    const everything = await list(app);
    const statuses = await Promise.all(
      ["available", "preview", "deprecated"].map((status) => list(app, `?status=${status}`)),
    );
    expect(statuses.reduce((sum, { total }) => sum + total, 0)).toBe(everything.total);
    const { models } = await list(app, "?provider=zeta&includeGone=true");
    expect(models[0]).toMatchObject({ status: "deprecated", goneAt: expect.stringMatching(/Z$/) });
    expect(models[1]).not.toHaveProperty("goneAt");
    const csv = async (query: string) => (await app.request(`/api/v1/models?format=csv${query}`)).text();
    expect(await csv("")).not.toContain("zeta,embedding");
    expect(await csv("&includeGone=true")).toMatch(/^zeta,embedding,.*Z\r$/m);
  });
});

test("prices and contexts can be filtered, and unknown values match no bound", async () => {
  await using app = await openModels({
    acme: {
      free: { cost: { input: 0, output: 0 }, open_weights: true, limit: { context: 8000 } },
      cheap: { cost: { input: 0.05, output: 0.4 }, limit: { context: 200_000 } },
      dear: { cost: { input: 15, output: 75 }, open_weights: true, limit: { context: 1_000_000 } },
      unknown: { cost: undefined, limit: undefined },
    },
  });
  for (const [query, expected] of [
    ["?minInputCost=0.01", "cheap dear"],
    ["?minInputCost=0", "cheap dear free"],
    ["?maxInputCost=0", "free"],
    ["?maxInputCost=0.05", "cheap free"],
    ["?minInputCost=0.05&maxInputCost=15.000", "cheap dear"],
    ["?minInputCost=1&maxInputCost=0.5", ""],
    ["?minContext=8001", "cheap dear"],
    ["?minContext=1", "cheap dear free"],
    ["?openWeights=true", "dear free"],
    ["?openWeights=false", "cheap unknown"],
    ["?openWeights=true&minContext=200000&maxInputCost=20", "dear"],
  ] as const) {
    const found = (await list(app, query)).models.map(({ modelId }) => modelId).join(" ");
    expect([query, found]).toEqual([query, expected]);
  }
});

test("sortBy sorts in both directions, with unknown values last and ties in a stable order", async () => {
  await using app = await openModels({
    b: { one: { name: "zeta", release_date: "2025-01", cost: { input: 3, output: 1, cache_read: 0.1 } } },
    a: {
      two: { name: "Alpha", release_date: "2024-05-05", cost: undefined },
      three: { name: "beta", release_date: undefined, cost: { input: 3, output: 9 }, limit: { context: 10 } },
      four: {
        name: "beta",
        release_date: "2026-01-01",
        cost: { input: 0.5, output: 9, cache_read: 0.2 },
        limit: {},
      },
    },
  });
  for (const [query, expected] of [
    ["?sortBy=name", "a/two a/four a/three b/one"],
    ["?sortBy=name&sortOrder=desc", "b/one a/four a/three a/two"],
    ["?sortBy=releaseDate&sortOrder=asc", "a/two b/one a/four a/three"],
    ["?sortBy=releaseDate&sortOrder=desc", "a/four b/one a/two a/three"],
    ["?sortBy=inputCost", "a/four a/three b/one a/two"],
    ["?sortBy=inputCost&sortOrder=desc", "a/three b/one a/four a/two"],
    ["?sortBy=outputCost", "b/one a/four a/three a/two"],
    ["?sortBy=outputCost&sortOrder=desc", "a/four a/three b/one a/two"],
    ["?sortBy=cacheReadCost", "b/one a/four a/three a/two"],
    ["?sortBy=cacheReadCost&sortOrder=desc", "a/four b/one a/three a/two"],
    ["?sortBy=contextLimit", "a/three a/two b/one a/four"],
    ["?sortBy=contextLimit&sortOrder=desc", "a/two b/one a/three a/four"],
    ["?sortOrder=desc", "b/one a/two a/three a/four"],
    ["?sortBy=inputCost&limit=2&offset=1", "a/three b/one"],
  ] as const) {
    expect([query, (await ids(app, query)).join(" ")]).toEqual([query, expected]);
  }
});

test("a request with an unknown, repeated or invalid parameter is refused with the parameter's name", async () => {
  await using app = await openModels({ acme: { a: {} } });
  for (const [query, path, message] of [
    ["?tier=cheap", "tier", "must be one of budget, standard, premium, reasoning"],
    ["?tier=", "tier", "must be one of budget, standard, premium, reasoning"],
    ["?status=gone", "status", "must be one of available, preview, deprecated"],
    [
      "?capability=vision&capability=smell",
      "capability",
      "must be one of vision, tools, streaming, reasoning, structuredOutput, attachment",
    ],
    [
      "?sortBy=price",
      "sortBy",
      "must be one of name, releaseDate, inputCost, outputCost, cacheReadCost, contextLimit",
    ],
    ["?minInputCost=-1", "minInputCost", "must be a number from 0 to 1000000, such as 0.5"],
    ["?maxInputCost=cheap", "maxInputCost", "must be a number from 0 to 1000000, such as 0.5"],
    ["?maxInputCost=1e", "maxInputCost", "must be a number from 0 to 1000000, such as 0.5"],
    ["?maxInputCost=1000001", "maxInputCost", "must be a number from 0 to 1000000, such as 0.5"],
    ["?minContext=0", "minContext", "must be a whole number from 1 to 1000000000"],
    ["?openWeights=yes", "openWeights", "must be one of true, false"],
    ["?includeGone=1", "includeGone", "must be one of true, false"],
    ["?sortBy=name&sortOrder=up", "sortOrder", "must be one of asc, desc"],
    ["?format=ndjson", "format", "must be one of json, csv"],
    ["?limit=0", "limit", "must be a whole number from 1 to 200"],
    ["?limit=201", "limit", "must be a whole number from 1 to 200"],
    ["?limit=ten", "limit", "must be a whole number from 1 to 200"],
    ["?limit=1.5", "limit", "must be a whole number from 1 to 200"],
    ["?offset=-1", "offset", "must be a whole number from 0 to 2147483647"],
    ["?limit=1&limit=2", "limit", "must be given once"],
    ["?provider=a&provider=b", "provider", "must be given once"],
    [`?search=${"x".repeat(501)}`, "search", "must have at most 500 characters"],
    [
      "?page=2",
      "page",
      "is not a parameter of this endpoint; the parameters are provider, tier, status, capability, search, minInputCost, maxInputCost, minContext, openWeights, includeGone, sortBy, sortOrder, facets, limit, offset, format",
    ],
  ] as const) {
    const response = await app.request(`/api/v1/models${query}`);
    expect([query, response.status]).toEqual([query, 400]);
    expect(await response.json()).toMatchObject({
      error: { code: "VALIDATION_ERROR", details: { errors: [{ path, message }] } },
    });
  }
});

test("models.csv returns the same list as format=csv and refuses paging parameters", async () => {
  await using app = await openModels({ openai: { "gpt-5": {}, "gpt-5-mini": {} }, acme: { other: {} } });
  const query = "provider=openai&sortBy=name&sortOrder=desc";
  const [file, same] = [
    await app.request(`/api/v1/models.csv?${query}`),
    await app.request(`/api/v1/models?format=csv&${query}`),
  ];
  expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(file.headers.get("etag")).toBe(same.headers.get("etag"));
  expect(await file.text()).toBe(await same.text());
  for (const parameter of ["limit=5", "offset=5", "format=csv", "facets=true"]) {
    const { status } = await app.request(`/api/v1/models.csv?${parameter}`);
    expect([parameter, status]).toEqual([parameter, 400]);
  }
});

test("format=csv is streamed in the encoding that the client accepts", async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `model-${String(n).padStart(4, "0")}`);
  await using app = await openModels({ acme: Object.fromEntries(ids.map((id) => [id, {}])) });
  const plain = await app.request("/api/v1/models?format=csv");
  expect(plain.headers.has("content-length")).toBe(false);
  const chunks: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of plain.body ?? []) chunks.push(decoder.decode(chunk, { stream: true }));
  expect(chunks.length).toBeGreaterThan(5);
  const text = chunks.join("");
  expect(text.trimEnd().split("\r\n")).toHaveLength(1001);
  for (const encoding of ["gzip", "zstd"] as const) {
    const request = { headers: { "accept-encoding": encoding } };
    const response = await app.request("/api/v1/models?format=csv", request);
    expect(response.headers.get("content-encoding")).toBe(encoding);
    expect(response.headers.get("etag")).not.toBe(plain.headers.get("etag"));
    const bytes = new Uint8Array(await response.arrayBuffer());
    const unpacked = encoding === "gzip" ? Bun.gunzipSync(bytes) : Bun.zstdDecompressSync(bytes);
    expect(new TextDecoder().decode(unpacked)).toBe(text);
    const again = { headers: { ...request.headers, "if-none-match": response.headers.get("etag") ?? "" } };
    expect((await app.request("/api/v1/models?format=csv", again)).status).toBe(304);
  }
});

test("a caller can download four lists at a time, and canceling a download frees its slot", async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `model-${n}`);
  await using app = await openModels({ acme: Object.fromEntries(ids.map((id) => [id, {}])) });
  const download = (address: string) =>
    app.app.handle(new Request("http://x/api/v1/models?format=csv"), address);
  const held = await Promise.all(Array.from({ length: 4 }, () => download("192.0.2.1")));
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const refused = await download("192.0.2.1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  const other = await download("192.0.2.2");
  expect(other.status).toBe(200);
  await other.body?.cancel();
  await held[0]?.body?.cancel();
  const next = await download("192.0.2.1");
  expect(next.status).toBe(200);
  await next.text();
  for (const response of held.slice(1)) await response.body?.cancel();
});

test("format=csv returns the whole filtered list with prices, and no cell starts a formula", async () => {
  await using app = await openModels({
    acme: {
      "=cmd()": { name: '+1, "quoted"\nline', cost: { input: 0.05, output: 2 }, family: "@sum" },
      plain: {
        name: "＝wide",
        cost: undefined,
        limit: undefined,
        modalities: { input: ["text", "image"], output: ["text"] },
      },
      third: {},
    },
    zeta: { other: {} },
  });
  const response = await app.request("/api/v1/models?format=csv&provider=acme&limit=1");
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(response.headers.get("content-disposition")).toBe(
    "attachment; filename=\"models.csv\"; filename*=UTF-8''models.csv",
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const text = new TextDecoder().decode(bytes);
  expect(text).toEndWith("\r\n");
  const rows = await new Promise<Record<string, string>[]>((resolve, reject) => {
    const found: Record<string, string>[] = [];
    parseString(text, { headers: true })
      .on("data", (row) => found.push(row))
      .on("error", reject)
      .on("end", () => resolve(found));
  });
  expect(rows.map(({ modelId }) => modelId)).toEqual(["'=cmd()", "plain", "third"]);
  expect(rows[0]).toMatchObject({
    provider: "acme",
    name: '\'+1, "quoted"\nline',
    family: "'@sum",
    "capabilities.tools": "true",
    "cost.input": "0.05",
    "cost.output": "2",
    "cost.cacheRead": "",
    "limits.context": "128000",
    releaseDate: "2025-06-01",
    openWeights: "false",
  });
  expect(rows[1]).toMatchObject({
    name: "'＝wide",
    "cost.input": "",
    "limits.output": "",
    "modalities.input": '["text","image"]',
  });
  const none = await (await app.request("/api/v1/models?format=csv&provider=nobody")).text();
  expect(none.trimEnd().split("\r\n")).toHaveLength(1);
});
