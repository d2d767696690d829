import { expect, test } from "bun:test";
import { readPrices } from "../../../shared/models/prices.ts";
import { readPastEvents } from "../../../sql/models/bundled_history.ts";
import { listSteps, type PastEvent, planBundledHistory } from "../../../sql/models/bundled_history_plan.ts";
import { modelKeyText } from "../../../sql/models/models.ts";
import { readSnapshot, SNAPSHOTS } from "../../helpers/models/catalog.ts";

const events = await readPastEvents();
const keyOf = ({ provider, model }: PastEvent) => modelKeyText({ provider, modelId: model });
const NOW = "2026-11-25T00:00:00.000Z";

for (const snapshot of SNAPSHOTS) {
  test(`reproduces the models and prices of ${snapshot.at} exactly by replaying the events`, async () => {
    const replayed = new Map<string, object>();
    for (const event of events) {
      if (new Date(event.at).toISOString() > snapshot.at) break;
      if (event.event === "gone") replayed.delete(keyOf(event));
      else replayed.set(keyOf(event), readPrices(event.cost));
    }
    const { models } = await readSnapshot(snapshot);
    const published = models.map(({ provider, id, cost }): [string, object] => [
      modelKeyText({ provider, modelId: id }),
      readPrices(cost),
    ]);
    expect(published).toHaveLength(snapshot.models);
    expect(Object.fromEntries(replayed)).toEqual(Object.fromEntries(published));
  });
}

test("excludes prices that the source withdrew within a day, all of which were mistakes", () => {
  const leftOut = [...Map.groupBy(events, keyOf).values()].flatMap((own) => {
    const taken = new Set(listSteps(own).map(({ at }) => at));
    return own.filter(
      ({ at, event }) => event !== "gone" && event !== "status" && !taken.has(new Date(at).toISOString()),
    );
  });
  const mistakes = leftOut.map(
    ({ at, provider, model, cost }) => `${at} ${provider}/${model} ${cost?.input} ${cost?.output}`,
  );
  const [free, others] = [
    mistakes.filter((line) => line.endsWith(" 0 0")),
    mistakes.filter((line) => !line.endsWith(" 0 0")),
  ];
  expect(free).toHaveLength(18);
  expect(free.filter((line) => !line.startsWith("2026-06-25T14:41:46Z openrouter/"))).toEqual([]);
  expect(others.toSorted()).toEqual([
    // The source corrected this output price to 5 four hours later.
    "2025-10-15T17:51:46Z anthropic/claude-haiku-4-5-20251001 1 1.25",
    // For five hours, all models of the provider had this price.
    "2026-03-16T15:55:19Z vultr/gpt-oss-120b 0.55 2.75",
  ]);
});

const PAST: PastEvent[] = [
  ["2026-01-01T00:00:00Z", "first_seen", { input: 1, output: 2 }],
  ["2026-02-01T00:00:00Z", "status", { input: 1, output: 2 }],
  ["2026-03-01T00:00:00Z", "price", { input: 1, output: 3, cache_read: 0.1 }],
  ["2026-04-01T00:00:00Z", "gone", null],
  ["2026-05-01T00:00:00Z", "returned", { input: 2, output: 3, cache_read: 0.1 }],
].map(([at, event, cost]) => ({ at, event, cost, provider: "acme", model: "a" }) as PastEvent);
const KEY = { provider: "acme", modelId: "a" };

test("ends the bundled history where the service's own record starts, and adds a change to the recorded prices", () => {
  const stored = [{ ...KEY, createdAt: "2026-03-15T00:00:00.000Z", prices: { input: 1, output: 9 } }];
  expect(planBundledHistory(PAST, stored, NOW)).toEqual({
    gone: [],
    knownSince: [{ ...KEY, pricesKnownSince: "2026-01-01T00:00:00.000Z" }],
    changes: [
      { ...KEY, field: "output", oldValue: 2, newValue: 3, changedAt: "2026-03-01T00:00:00.000Z" },
      { ...KEY, field: "cacheRead", oldValue: null, newValue: 0.1, changedAt: "2026-03-01T00:00:00.000Z" },
      { ...KEY, field: "output", oldValue: 3, newValue: 9, changedAt: "2026-03-15T00:00:00.000Z" },
      { ...KEY, field: "cacheRead", oldValue: 0.1, newValue: null, changedAt: "2026-03-15T00:00:00.000Z" },
    ],
  });
});

test("adds no history to a model that the service recorded before the model's first event", () => {
  const stored = [{ ...KEY, createdAt: "2025-12-01T00:00:00.000Z", prices: {} }];
  expect(planBundledHistory(PAST, stored, NOW)).toEqual({ gone: [], knownSince: [], changes: [] });
});

test("marks a model known only from the history as gone at its last event, or now if it was still listed", () => {
  const [model] = planBundledHistory(PAST, [], NOW).gone;
  expect(model).toEqual({
    ...KEY,
    pricesKnownSince: "2026-01-01T00:00:00.000Z",
    goneAt: NOW,
    prices: { input: 2, output: 3, cacheRead: 0.1 },
    tier: "standard",
    tierSource: "price",
  });
  const [left] = planBundledHistory(PAST.slice(0, 4), [], NOW).gone;
  expect(left).toMatchObject({
    goneAt: "2026-04-01T00:00:00.000Z",
    prices: { input: 1, output: 3, cacheRead: 0.1 },
  });
});

test("excludes a doubtful price only if the source withdrew it within a day", () => {
  const day = (cost: object | null, at: string, event = "price") =>
    ({ at, event, cost, provider: "acme", model: "a" }) as PastEvent;
  const prices = (...own: PastEvent[]) => listSteps(own).map(({ prices: { input } }) => input);
  const first = day({ input: 3, output: 3 }, "2026-01-01T00:00:00Z", "first_seen");
  const free = day({ input: 0, output: 3 }, "2026-01-02T00:00:00Z");
  expect(prices(first, free, day({ input: 3.5, output: 3 }, "2026-01-02T23:59:59Z"))).toEqual([3, 3.5]);
  expect(prices(first, free, day({ input: 3, output: 3 }, "2026-01-03T00:00:00Z"))).toEqual([3, 0, 3]);
  expect(prices(first, free)).toEqual([3, 0]);
  const dear = day({ input: 16, output: 3 }, "2026-01-02T00:00:00Z");
  expect(prices(first, dear, day({ input: 17, output: 3 }, "2026-01-02T12:00:00Z"))).toEqual([3, 16, 17]);
});
