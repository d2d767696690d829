import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import {
  type DocumentModels,
  documentSource,
  loadBundledCatalog,
  makeDocument,
  syncFrom,
} from "../../../helpers/models/catalog.ts";

test("the count of a facet's value equals the total of the list filtered by that value", async () => {
  await using app = await openTestApp();
  const models: DocumentModels = {
    acme: {
      a: { reasoning: true, open_weights: true },
      b: { reasoning: true, tool_call: false, status: "deprecated" },
      c: { cost: { input: 20, output: 90 } },
    },
    // Every JavaScript object inherits a property with this name.
    constructor: { d: { structured_output: undefined } },
  };
  await syncFrom(app.db.sql, documentSource(makeDocument(models)));
  // biome-ignore lint/suspicious/noExplicitAny: the body of a list
  const facetsOf = async (query: string): Promise<any> => {
    const response = await app.request(`/api/v1/models?facets=true&limit=1${query}`);
    return ((await response.json()) as { data: { facets: object } }).data.facets;
  };
  expect(await facetsOf("")).toEqual({
    provider: { acme: 3, constructor: 1 },
    tier: { standard: 3, premium: 1 },
    status: { available: 3, deprecated: 1 },
    capability: { tools: 3, streaming: 4, reasoning: 2, structuredOutput: 3 },
    openWeights: { true: 1, false: 3 },
  });
  const filtered = await facetsOf("&provider=acme&capability=reasoning");
  expect(filtered).toEqual({
    provider: { acme: 2 },
    tier: { standard: 2 },
    status: { available: 1, deprecated: 1 },
    capability: { tools: 1, streaming: 2, reasoning: 2, structuredOutput: 2 },
    openWeights: { true: 1, false: 1 },
  });
  for (const [facet, values] of Object.entries(filtered).slice(1)) {
    for (const [value, count] of Object.entries(values as object)) {
      const path = `/api/v1/models?provider=acme&capability=reasoning&${facet}=${value}`;
      const { data } = (await (await app.request(path)).json()) as { data: { total: number } };
      expect([facet, value, data.total]).toEqual([facet, value, count]);
    }
  }
  expect(await (await app.request("/api/v1/models")).text()).not.toContain("facets");
});

test("the bundled catalog contains only data that models.dev states", async () => {
  await using app = await openTestApp();
  await loadBundledCatalog(app.db.sql);
  const read = async (query: string) =>
    (await (await app.request(`/api/v1/models?limit=200${query}`)).json()) as {
      data: { total: number; models: Record<string, unknown>[]; facets: Record<string, object> };
    };
  const { data } = await read("&facets=true");
  expect(data.total).toBe(5276);
  expect(data.facets).toMatchObject({
    capability: { vision: 2608, tools: 4128, reasoning: 3186, structuredOutput: 1881, attachment: 2529 },
    openWeights: { true: 2010, false: 3266 },
  });
  const all = await Promise.all(
    Array.from({ length: 27 }, async (_, page) => (await read(`&offset=${page * 200}`)).data.models),
  );
  const models = all.flat() as { capabilitiesStated: string[]; limits: { input?: number } | null }[];
  const countStated = (name: string) =>
    models.filter(({ capabilitiesStated }) => capabilitiesStated.includes(name)).length;
  expect(["structuredOutput", "tools", "reasoning", "streaming"].map(countStated)).toEqual([
    ...[2572, 5276, 5276, 0],
  ]);
  expect(models.filter(({ limits }) => limits?.input !== undefined).length).toBeGreaterThan(900);
  const described = await app.db.sql`select count(*)::int as count from models where description is not null`;
  expect([...described]).toEqual([{ count: 0 }]);
});
