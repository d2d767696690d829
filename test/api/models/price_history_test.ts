import { expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

interface History {
  data: { changes: Record<string, unknown>[]; total: number; corrections: object[] };
}

function syncCost(app: TestApp, cost: Record<string, number> | undefined): Promise<unknown> {
  return syncFrom(app.db.sql, documentSource(makeDocument({ acme: { "x/Y": { cost } } })));
}

async function readHistory(app: TestApp, path: string): Promise<History["data"]> {
  const response = await app.request(`/api/v1/models/history/${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return ((await response.json()) as History).data;
}

test("GET /models/history lists price changes, newest first", async () => {
  await using app = await openTestApp();
  await syncCost(app, { input: 3, output: 2 });
  expect(await readHistory(app, "acme/x/Y")).toEqual({ changes: [], total: 0, corrections: [] });

  await syncCost(app, { input: 2, output: 2 });
  await syncCost(app, { input: 1, output: 2, cache_read: 0.5 });
  await syncCost(app, undefined);
  const { changes, total } = await readHistory(app, "acme/x%2FY");
  expect(total).toBe(6);
  expect(changes.map(({ field, oldValue, newValue }) => [field, oldValue, newValue])).toEqual([
    ["cacheRead", 0.5, null],
    ["output", 2, null],
    ["input", 1, null],
    ["cacheRead", null, 0.5],
    ["input", 2, 1],
    ["input", 3, 2],
  ]);
  expect(Object.keys(changes[0] ?? {})).toEqual(["field", "oldValue", "newValue", "changedAt"]);
  expect(changes[0]?.["changedAt"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("the history of an unknown model returns 404", async () => {
  await using app = await openTestApp();
  const response = await app.request("/api/v1/models/history/acme/z");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: "NOT_FOUND", details: { reason: "model" } } });
});
