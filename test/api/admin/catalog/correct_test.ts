import { expect, test } from "bun:test";
import { lockTransaction } from "../../../../sql/locks.ts";
import { runCommand, runFailing, runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const sync = (app: TestApp, cost: object) =>
  syncFrom(app.db.sql, documentSource(makeDocument({ acme: { "x/a": { cost } } })), { force: true });

/** Opens an app with a model whose input price was 0 by mistake for 13 hours. */
async function openMistake(): Promise<TestApp> {
  const app = await openTestApp();
  await sync(app, { input: 3, output: 15 });
  await sync(app, { input: 0, output: 15 });
  await sync(app, { input: 3, output: 15 });
  const { sql } = app.db;
  await sql`update models set prices_known_since = '2026-06-01'`;
  await sql`
    update model_price_changes
    set changed_at = case when new_value = 0 then '2026-06-25 14:00'::timestamptz else '2026-06-26 03:00' end`;
  await app.deps.catalog.refresh();
  return app;
}

const correct = (...flags: string[]) => [
  ...["catalog", "correct", "--model", "acme/x/a", "--kind", "input", "--price", "3"],
  ...["--from", "2026-06-25T14:00:00Z", "--reason", "The source had 0 for 13 hours."],
  ...flags,
];

async function readCost(app: TestApp, query: string): Promise<{ cost: unknown; pricesFrom?: string }> {
  const response = await app.request(`/api/v1/models/acme/x/a?${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  return (await response.json()) as { cost: unknown };
}

async function bill(app: TestApp, item: object): Promise<string> {
  const body = { items: [{ provider: "acme", modelId: "x/a", inputTokens: 1e6, outputTokens: 0, ...item }] };
  const response = await app.request("/api/v1/models/cost", { method: "POST", body });
  return ((await response.json()) as { data: { total: string } }).data.total;
}

test("a corrected price applies to its period, but not to queries with an earlier knownAt", async () => {
  await using app = await openMistake();
  const { sql, url } = app.db;
  const asOf = "2026-06-25T20:00:00Z";
  expect(await readCost(app, `asOf=${asOf}`)).toMatchObject({ cost: { input: 0, output: 15 } });
  const recorded = [...(await sql`select * from model_price_changes order by id`)];
  const { out } = await runCommand(url, correct());
  expect(out).toBe(
    "Corrected: input of acme/x/a was $3 per million tokens from 2026-06-25T14:00:00.000Z to 2026-06-26T03:00:00.000Z. Later prices stay as they are.\n",
  );
  expect([...(await sql`select * from model_price_changes order by id`)]).toEqual(recorded);
  expect(await readCost(app, `asOf=${asOf}`)).toMatchObject({
    cost: { input: 3, output: 15 },
    pricesFrom: "2026-06-25T14:00:00.000Z",
  });
  const [correction] = await sql<{ knownFrom: string }[]>`select known_from from model_price_corrections`;
  const before = new Date(Date.parse(correction?.knownFrom ?? "") - 1).toISOString();
  expect(await readCost(app, `asOf=${asOf}&knownAt=${before}`)).toMatchObject({ cost: { input: 0 } });
  expect(await readCost(app, `asOf=${asOf}&knownAt=${correction?.knownFrom}`)).toMatchObject({
    cost: { input: 3 },
  });
  // The price is 3 one millisecond before each boundary of the corrected period and at each boundary.
  for (const [instant, input] of [
    ["2026-06-25T13:59:59.999Z", 3],
    ["2026-06-25T14:00:00.000Z", 3],
    ["2026-06-26T02:59:59.999Z", 3],
    ["2026-06-26T03:00:00.000Z", 3],
  ] as const) {
    expect(await readCost(app, `asOf=${instant}`)).toMatchObject({ cost: { input } });
  }
  expect([await bill(app, { asOf }), await bill(app, { asOf, knownAt: before })]).toEqual(["3", "0"]);
  const history = await app.request("/api/v1/models/history/acme/x/a");
  expect(((await history.json()) as { data: object }).data).toMatchObject({
    total: 2,
    corrections: [{ field: "input", value: 3, reason: "The source had 0 for 13 hours." }],
  });
  const [entry] = await sql`select action, subject_id, details from audit_log`;
  expect(entry).toMatchObject({ action: "catalog.correct", subjectId: "acme/x/a", details: { value: 3 } });
});

test("the last correction applies, and a price corrected to unknown is null", async () => {
  await using app = await openMistake();
  const { url } = app.db;
  const asOf = "2026-06-25T20:00:00Z";
  await runJson(url, correct());
  const { correction } = await runJson<{ correction: object }>(
    url,
    correct("--price=unknown", "--from=2026-06-25T19:00:00Z", "--to=2026-06-25T21:00:00Z"),
  );
  expect(correction).toMatchObject({ provider: "acme", modelId: "x/a", field: "input", value: null });
  expect(await readCost(app, `asOf=${asOf}`)).toMatchObject({ cost: null });
  expect(await readCost(app, "asOf=2026-06-25T21:00:00Z")).toMatchObject({ cost: { input: 3 } });
  // Corrects a price that was never recorded.
  await runJson(url, correct("--kind=tiers.200000.cacheRead", "--price=0.5", "--to=2026-06-25T15:00:00Z"));
  expect(await readCost(app, "asOf=2026-06-25T14:30:00Z")).toMatchObject({
    cost: { tiers: [{ contextOver: 200_000, cacheRead: 0.5 }] },
  });
});

test("a correction without --to ends now if the price has not changed since --from", async () => {
  await using app = await openMistake();
  const { correction } = await runJson<{ correction: { validTo: string; knownFrom: string } }>(
    app.db.url,
    correct("--from=2026-06-27T00:00:00Z", "--price=2.5"),
  );
  expect(correction.validTo <= correction.knownFrom).toBe(true);
  expect(await readCost(app, "asOf=2026-06-27T00:00:00Z")).toMatchObject({ cost: { input: 2.5 } });
  expect(await readCost(app, "")).toMatchObject({ cost: { input: 3 } });
});

test("a query with knownAt ignores all prices that were recorded later", async () => {
  await using app = await openMistake();
  const knownAt = "2026-06-26T02:00:00Z";
  expect(await readCost(app, `asOf=2026-06-27T00:00:00Z&knownAt=${knownAt}`)).toMatchObject({
    cost: { input: 0 },
  });
  expect(await readCost(app, `knownAt=${knownAt}`)).toMatchObject({ cost: { input: 0 } });
  const early = await app.request(
    "/api/v1/models/acme/x/a?asOf=2026-06-27T00:00:00Z&knownAt=2026-05-01T00:00:00Z",
  );
  expect([early.status, await early.json()]).toMatchObject([
    404,
    { error: { details: { reason: "unknown_at" } } },
  ]);
  const later = await app.request("/api/v1/models/acme/x/a?knownAt=2999-01-01T00:00:00Z");
  expect(later.status).toBe(400);
});

test("a correction that waits for a sync ends at the sync's price change and is known from then on", async () => {
  await using app = await openMistake();
  const { sql, url } = app.db;
  const { waiting, end, changed } = await sql.begin(async (tx) => {
    // Takes the locks that a sync holds while it stores the catalog.
    await lockTransaction(tx, "catalogSync");
    await tx`update catalog_version set number = number + 1`;
    const running = runJson<{ correction: { validTo: string; knownFrom: string } }>(
      url,
      correct("--from=2026-06-27T00:00:00Z"),
    );
    await waitFor(async () => {
      const sessions = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return sessions.length > 0;
    });
    await tx`update models set input_usd_per_mtok = 4`;
    const [{ now, changedAt }] = await tx<[{ now: string; changedAt: string }]>`
      select date_trunc('milliseconds', clock_timestamp()) as now, max(changed_at) as changed_at
      from model_price_changes`;
    return { waiting: running, end: now, changed: changedAt };
  });
  const { correction } = await waiting;
  expect(correction.validTo).toBe(changed);
  expect(correction.knownFrom >= end).toBe(true);
});

test("an invalid correction is rejected and not stored", async () => {
  await using app = await openMistake();
  const { sql, url } = app.db;
  for (const [flags, message] of [
    [["--kind=tokens"], /^--kind must be one of input, output, /],
    [["--price=free"], /^--price must be a number .*; it is "free"$/],
    [["--price=-1"], /^--price must be a number/],
    [["--price=1e10"], /^--price must be a number/],
    [["--from=2026-06-25"], /^--from must be ISO 8601 with an offset/],
    [["--from=2026-05-01T00:00:00Z"], /^--from is before 2026-06-01T00:00:00.000Z/],
    [["--to=2999-01-01T00:00:00Z"], /^--to must not be in the future; it is 20/],
    [["--to=2026-06-25T14:00:00Z"], /^--from must be before 2026-06-25T14:00:00.000Z$/],
    [["--reason= "], /^--reason must have 1 to 2000 characters$/],
    [[`--reason=${"🙂".repeat(2001)}`], /^--reason must have 1 to 2000 characters$/],
  ] as const) {
    const { exitCode, err } = await runCommand(url, correct(...flags));
    expect([flags, exitCode, err.trimEnd()]).toEqual([flags, 2, expect.stringMatching(message)]);
  }
  expect(await runFailing(url, correct("--model=acme/none"))).toBe('Model "acme/none" not found');
  expect(await sql`select from model_price_corrections`).toHaveLength(0);
});

test("the reason for a correction has at most 2,000 characters, counting an emoji as one", async () => {
  await using app = await openMistake();
  const reason = "🙂".repeat(2000);
  expect(await runCommand(app.db.url, correct("--reason", reason))).toMatchObject({ exitCode: 0 });
  expect([...(await app.db.sql`select reason from model_price_corrections`)]).toEqual([{ reason }]);
});
