import { expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";

interface Recent {
  models: {
    provider: string;
    modelId: string;
    pricesKnownSince: string;
    changes: { field: string; oldValue: number | null; newValue: number | null; changedAt: string }[];
  }[];
  total: number;
}

async function openPriced(): Promise<TestApp> {
  const app = await openTestApp();
  for (const price of [5, 4, 3]) {
    await syncFrom(
      app.db.sql,
      documentSource(
        makeDocument({
          acme: { "x/Y": { cost: { input: price, output: 9 } }, steady: {} },
          zeta: { "a?b&c": { cost: { input: 1, output: price, cache_read: price / 10 } } },
        }),
      ),
    );
  }
  return app;
}

async function readRecent(app: TestApp, query: Record<string, string[]>): Promise<Recent> {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, all]) => all.map((value): [string, string] => [name, value])),
  );
  const response = await app.request(`/api/v1/models/history?${search}`);
  expect([query, response.status]).toEqual([query, 200]);
  return ((await response.json()) as { data: Recent }).data;
}

function summarize({ models }: Recent): string[] {
  return models.map(
    ({ provider, modelId, changes }) =>
      `${provider}/${modelId} ${changes.map(({ field, newValue }) => `${field}=${newValue}`).join(" ")}`,
  );
}

test("GET /models/history returns each model's newest changes in the requested order and omits unknown models", async () => {
  await using app = await openPriced();
  const model = ["zeta/a?b&c", "acme/steady", "acme/none", "nothing", "acme/x/Y"];
  expect(summarize(await readRecent(app, { model }))).toEqual([
    "zeta/a?b&c cacheRead=0.3 output=3 cacheRead=0.4 output=4",
    "acme/steady ",
    "acme/x/Y input=3 input=4",
  ]);
  expect(summarize(await readRecent(app, { model, field: ["input", "output"], limit: ["1"] }))).toEqual([
    "zeta/a?b&c output=3",
    "acme/steady ",
    "acme/x/Y input=3",
  ]);
});

test("each model has pricesKnownSince, even without changes", async () => {
  await using app = await openPriced();
  await app.db.sql`update models set prices_known_since = '2026-06-01Z' where model_id = 'steady'`;
  await app.deps.catalog.refresh();
  const { models } = await readRecent(app, { model: ["acme/steady"] });
  expect(models).toEqual([
    { provider: "acme", modelId: "steady", pricesKnownSince: "2026-06-01T00:00:00.000Z", changes: [] },
  ]);
});

test("since excludes earlier changes", async () => {
  await using app = await openPriced();
  const all = await readRecent(app, { model: ["acme/x/Y"] });
  const [newest] = all.models[0]?.changes ?? [];
  const since = newest?.changedAt ?? "";
  await app.db.owner`
    update model_price_changes set changed_at = changed_at - interval '1 day' where new_value = 4`;
  expect(summarize(await readRecent(app, { model: ["acme/x/Y"], since: [since] }))).toEqual([
    "acme/x/Y input=3",
  ]);
});

test.each([
  ["", "model"],
  ["?model=acme/x&since=yesterday", "since"],
  ["?model=acme/x&field=tiers", "field"],
  ["?model=acme/x&limit=101", "limit"],
  [`?${Array.from({ length: 201 }, (_, i) => `model=a/${i}`).join("&")}`, "model"],
])("an invalid query is refused with the name of the invalid parameter: %#", async (query, path) => {
  await using app = await openTestApp();
  const response = await app.request(`/api/v1/models/history${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { details: { errors: [{ path }] } } });
});
