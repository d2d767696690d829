import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { type DocumentModels, documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

const ODD_IDS = [
  "openai/GPT-5",
  "amazon.nova-pro-v1:0",
  "claude@20250219",
  "~latest/x",
  "Hermes 2/(3.1v3)+y?&#%41",
  "a/b/c",
  "été",
];

async function openModels(models: DocumentModels): Promise<TestApp> {
  const app = await openTestApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
  await syncFrom(app.db.sql, documentSource(makeDocument(models)));
  return app;
}

/** Returns the body of a successful response. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
async function get(app: TestApp, path: string): Promise<any> {
  const response = await app.request(`/api/v1/models${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return await response.json();
}

async function expectUnknown(app: TestApp, path: string, reason: string): Promise<void> {
  const response = await app.request(`/api/v1/models${path}`);
  expect([path, response.status]).toEqual([path, 404]);
  expect(await response.json()).toMatchObject({ error: { code: "NOT_FOUND", details: { reason } } });
}

describe("GET /models/{provider}/{modelId}", () => {
  test("returns the whole model", async () => {
    await using app = await openModels({
      openai: {
        "gpt-5": {
          name: "GPT-5",
          family: "gpt",
          knowledge: "2024-09",
          modalities: { input: ["text", "image"], output: ["text"] },
          structured_output: undefined,
          cost: { input: 1.25, output: 10, cache_read: 0.125, reasoning: 7 },
          limit: { context: 128_000, input: 100_000, output: 8192 },
        },
      },
    });
    const [run] = await app.db.sql`select finished_at, created_at from catalog_syncs, models`;
    expect(await get(app, "/openai/gpt-5")).toEqual({
      provider: "openai",
      modelId: "gpt-5",
      name: "GPT-5",
      description: null,
      providerModelId: "gpt-5",
      family: "gpt",
      capabilities: {
        vision: true,
        tools: true,
        streaming: true,
        reasoning: false,
        structuredOutput: false,
        attachment: false,
      },
      capabilitiesStated: ["vision", "tools", "reasoning", "attachment"],
      modalities: { input: ["text", "image"], output: ["text"] },
      cost: { input: 1.25, output: 10, cacheRead: 0.125, reasoning: 7 },
      limits: { context: 128_000, input: 100_000, output: 8192 },
      tier: "standard",
      status: "available",
      releaseDate: "2025-06-01",
      knowledgeCutoff: "2024-09-01",
      openWeights: false,
      logoUrl: "https://models.dev/logos/openai.svg",
      pricesKnownSince: run?.["createdAt"],
      syncedAt: run?.["finishedAt"],
    });
  });

  test("finds ids with any characters, whether encoded or not", async () => {
    await using app = await openModels({ "wafer.ai": Object.fromEntries(ODD_IDS.map((id) => [id, {}])) });
    for (const id of ODD_IDS) {
      const encoded = `/wafer.ai/${encodeURIComponent(id)}`;
      expect(await get(app, encoded)).toMatchObject({
        provider: "wafer.ai",
        modelId: id,
        providerModelId: id,
      });
      if (/[ ?#%]/.test(id)) continue;
      expect(await get(app, `/wafer.ai/${id}`)).toMatchObject({ modelId: id });
      expect(await get(app, `/wafer.ai/${id}/`)).toMatchObject({ modelId: id });
    }
    for (const id of ["openai/gpt-5", "openai%252FGPT-5", "A/b/c", "a/b", "a"]) {
      await expectUnknown(app, `/wafer.ai/${id}`, "model");
    }
  });

  test("returns a model that the source no longer lists, marked as deprecated", async () => {
    await using app = await openModels({ acme: { a: {}, b: {} } });
    await syncFrom(app.db.sql, documentSource(makeDocument({ acme: { a: {} } })));
    expect(await get(app, "/acme/b")).toMatchObject({
      modelId: "b",
      status: "deprecated",
      goneAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(await get(app, "/acme/a")).not.toHaveProperty("goneAt");
  });

  test("returns 404 for an unknown model, an unknown provider and an incomplete path", async () => {
    await using app = await openModels({ acme: { a: {} } });
    await expectUnknown(app, "/acme/z", "model");
    await expectUnknown(app, "/nobody/a", "model");
    await expectUnknown(app, "/acme/%27%20or%201=1", "model");
    await expectUnknown(app, "/acme", "route");
    await expectUnknown(app, "/resolve", "route");
    const bad = await app.request("/api/v1/models/acme/%E0%A4%A");
    expect(bad.status).toBe(400);
  });
});

describe("GET /models/resolve/{alias}", () => {
  test("returns the target and its model", async () => {
    await using app = await openModels({ openai: { "gpt-5": {} } });
    const { data } = await get(app, "/resolve/gpt");
    expect(Object.keys(data)).toEqual(["alias", "target", "model"]);
    expect(data).toMatchObject({
      alias: "gpt",
      target: "openai/gpt-5",
      model: { provider: "openai", modelId: "gpt-5" },
    });
    expect(data.model).toEqual(await get(app, "/openai/gpt-5"));
  });

  test("prefers an operator's alias to the generated alias, and accepts aliases with slashes", async () => {
    await using app = await openModels({ openai: { "gpt-5": {} }, acme: { "x/y": {} } });
    await app.db.sql`
      insert into model_aliases (alias, origin, provider, model_id)
      values ('gpt-5', 'manual', 'acme', 'x/y'), ('team/fast', 'manual', 'openai', 'gpt-5'),
        ('nowhere', 'manual', 'acme', 'later')`;
    await app.deps.catalog.refresh();
    expect(await get(app, "/resolve/gpt-5")).toMatchObject({ data: { target: "acme/x/y" } });
    for (const path of ["/resolve/team/fast", "/resolve/team%2Ffast"]) {
      expect(await get(app, path)).toMatchObject({ data: { alias: "team/fast", target: "openai/gpt-5" } });
    }
    await expectUnknown(app, "/resolve/nowhere", "model");
    await app.db.sql`delete from model_aliases where origin = 'manual'`;
    await app.deps.catalog.refresh();
    expect(await get(app, "/resolve/gpt-5")).toMatchObject({ data: { target: "openai/gpt-5" } });
  });

  test("returns 404 for an unknown alias", async () => {
    await using app = await openModels({ openai: { "gpt-5": {} } });
    await expectUnknown(app, "/resolve/claude", "alias");
    await expectUnknown(app, "/resolve/GPT-5", "alias");
    await expectUnknown(app, "/resolve/openai/gpt-5", "alias");
  });
});

describe("an unknown name", () => {
  const MODELS: DocumentModels = {
    openai: { "gpt-5": {}, "gpt-5-mini": {}, "gpt-4": { status: "deprecated" }, o3: {} },
    anthropic: { "claude-sonnet-4": {}, "claude-opus-4": {} },
    azure: { "gpt-5": {} },
  };

  async function refusal(app: TestApp, path: string) {
    const response = await app.request(`/api/v1/models${path}`);
    const { error } = (await response.json()) as {
      error: { message: string; details: { reason: string; suggestions: string[] } };
    };
    return { status: response.status, message: error.message, ...error.details };
  }

  test("gets at most three similar, usable aliases as suggestions if it is an alias", async () => {
    await using app = await openModels(MODELS);
    expect(await refusal(app, "/resolve/gpt5")).toEqual({
      status: 404,
      message: 'Alias "gpt5" not found. Did you mean "gpt-5", "gpt", "gpt-5-mini"?',
      reason: "alias",
      suggestions: ["gpt-5", "gpt", "gpt-5-mini"],
    });
    expect((await refusal(app, "/resolve/claude-sonet")).suggestions[0]).toBe("claude-sonnet");
    expect((await refusal(app, "/resolve/SONNET")).suggestions).toContain("sonnet");
    expect((await refusal(app, "/resolve/gpt_4")).suggestions).not.toContain("gpt-4");
    expect(await refusal(app, "/resolve/zzzz")).toEqual({
      status: 404,
      message: 'Alias "zzzz" not found.',
      reason: "alias",
      suggestions: [],
    });
    expect((await refusal(app, "/resolve/openai/gpt-5")).message).toStartWith(
      '"openai/gpt-5" is a model and not an alias. Get it with GET /api/v1/models/openai/gpt-5',
    );
    expect((await refusal(app, `/resolve/${"gpt-5".repeat(500)}`)).suggestions).toEqual([]);
  });

  test("gets similar models or the same id at other providers as suggestions if it is a model", async () => {
    await using app = await openModels(MODELS);
    expect(await refusal(app, "/openai/gpt5")).toMatchObject({
      status: 404,
      message: expect.stringMatching(/^Model "openai\/gpt5" not found\. Did you mean "openai\/gpt-5", /),
      reason: "model",
    });
    expect((await refusal(app, "/open-ai/gpt-5")).suggestions).toEqual(["openai/gpt-5", "azure/gpt-5"]);
    expect((await refusal(app, "/history/anthropic/claude-sonnet-5")).suggestions[0]).toBe(
      "anthropic/claude-sonnet-4",
    );
    expect((await refusal(app, "/nobody/nothing")).suggestions).toEqual([]);
  });
});

test("GET /models/aliases lists every alias once and marks the deprecated aliases", async () => {
  await using app = await openModels({
    openai: { "gpt-5": {}, "gpt-4": { status: "deprecated" } },
    acme: { old: { status: "deprecated" } },
  });
  await app.db.sql`
    insert into model_aliases (alias, provider, model_id)
    values ('gpt', 'openai', 'gpt-4'), ('legacy', 'acme', 'old'), ('zz', 'acme', 'later')`;
  expect(await get(app, "/aliases")).toEqual({
    data: {
      aliases: [
        { alias: "gpt", provider: "openai", modelId: "gpt-4", scope: "global", deprecated: true },
        { alias: "gpt-4", provider: "openai", modelId: "gpt-4", scope: "global", deprecated: true },
        { alias: "gpt-5", provider: "openai", modelId: "gpt-5", scope: "global", deprecated: false },
        { alias: "legacy", provider: "acme", modelId: "old", scope: "global", deprecated: true },
        { alias: "zz", provider: "acme", modelId: "later", scope: "global", deprecated: false },
      ],
      total: 5,
    },
  });
  for (const [model, expected] of [
    ["openai/gpt-4", ["gpt", "gpt-4"]],
    ["acme/later", ["zz"]],
    ["acme/never", []],
    ["acme", []],
  ] as const) {
    const { data } = await get(app, `/aliases?model=${model}`);
    expect([model, data.aliases.map(({ alias }: { alias: string }) => alias), data.total]).toEqual([
      model,
      expected,
      expected.length,
    ]);
  }
});

test("GET /models/providers lists active providers, without the URLs that the source does not state", async () => {
  await using app = await openModels({ zeta: { a: {} }, acme: { a: {} }, leaving: { a: {} } });
  await syncFrom(
    app.db.sql,
    documentSource(
      makeDocument(
        { zeta: { a: {} }, acme: { a: {} } },
        { acme: { doc: undefined, api: "https://api.acme.example" } },
      ),
    ),
  );
  expect(await get(app, "/providers")).toEqual({
    data: {
      providers: [
        {
          id: "acme",
          name: "Provider acme",
          status: "active",
          logoUrl: "https://models.dev/logos/acme.svg",
          docUrl: null,
          apiUrl: "https://api.acme.example",
        },
        {
          id: "zeta",
          name: "Provider zeta",
          status: "active",
          logoUrl: "https://models.dev/logos/zeta.svg",
          docUrl: "https://zeta.example/docs",
        },
      ],
      total: 2,
    },
  });
});
