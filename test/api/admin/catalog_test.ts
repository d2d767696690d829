import { expect, test } from "bun:test";
import type { Pool } from "../../../sql/connection/pool.ts";
import { listHeldPrices } from "../../../sql/models/held_prices.ts";
import { runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { type DocumentModels, documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const PAID = { cost: { input: 3, output: 15 } };
const FREE = { cost: { input: 0, output: 0 } };

const sync = (sql: Pool, models: DocumentModels) => syncFrom(sql, documentSource(makeDocument(models)));

async function readInputs(sql: Pool): Promise<Record<string, number>> {
  const rows = await sql<{ modelId: string; input: number }[]>`
    select model_id, input_usd_per_mtok as input from models where removed_at is null order by 1`;
  return Object.fromEntries(rows.map(({ modelId, input }) => [modelId, input]));
}

async function listAudit(sql: Pool): Promise<string[]> {
  const rows = await sql<{ action: string; subjectId: string }[]>`
    select action, subject_id from audit_log order by id`;
  return rows.map(({ action, subjectId }) => `${action} ${subjectId}`);
}

test("catalog held lists held changes, and accept and reject decide on one model or all models", async () => {
  await using db = await openTestDatabase();
  const { sql, url } = db;
  expect((await runCommand(url, ["catalog", "held"])).out).toBe("No price waits.\n");
  await sync(sql, { acme: { "x/a": PAID, b: PAID, c: PAID } });
  await sync(sql, { acme: { "x/a": FREE, b: FREE, c: FREE } });
  const { out } = await runCommand(url, ["catalog", "held"]);
  const [heading, first, second] = out.split("\n").map((line) => line.replace(/ {2,}/g, "|"));
  expect(heading).toBe("MODEL|PRICE|APPLIES|SOURCE SAYS|SINCE|SEEN|STATE");
  expect(first).toMatch(/^acme\/b\|input\|3\|0\|\d{4}-\d\d-\d\dT[\d:.]+Z\|1\|waits$/);
  expect(second).toMatch(/^acme\/b\|output\|15\|0\|/);
  const listed = await runJson<{ prices: object[] }>(url, ["catalog", "held"]);
  expect(listed.prices).toHaveLength(3);
  expect(listed.prices[2]).toMatchObject({ provider: "acme", modelId: "x/a", prices: FREE.cost });

  expect((await runCommand(url, ["catalog", "accept", "--model", "acme/x/a"])).out).toBe(
    "Accepted the prices of acme/x/a.\n",
  );
  expect(await readInputs(sql)).toEqual({ b: 3, c: 3, "x/a": 0 });
  expect(await runJson(url, ["catalog", "reject", "--model", "acme/b"])).toEqual({
    decision: "rejected",
    models: ["acme/b"],
    documents: 0,
  });
  expect(
    (await listHeldPrices(sql)).map(({ modelId, rejectedAt }) => [modelId, rejectedAt !== null]),
  ).toEqual([
    ["b", true],
    ["c", false],
  ]);
  // Accepting all changes includes the change that was rejected before.
  expect(await runJson(url, ["catalog", "accept", "--all"])).toMatchObject({ models: ["acme/b", "acme/c"] });
  expect(await readInputs(sql)).toEqual({ b: 0, c: 0, "x/a": 0 });
  expect((await runCommand(url, ["catalog", "accept", "--all"])).out).toBe("Nothing waits.\n");
  expect(await listAudit(sql)).toEqual([
    "catalog.accept acme/x/a",
    "catalog.reject acme/b",
    "catalog.accept all",
  ]);
  const changes = await sql`select from events where type = 'model.price_changed'`;
  expect(changes).toHaveLength(6);
});

test("the next sync applies a held document after catalog accept --all, but not after reject --all", async () => {
  await using db = await openTestDatabase();
  const { sql, url } = db;
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, {}]));
  await sync(sql, { acme: many, other: { a: {} } });
  const few = { other: { a: {} } };
  expect(await sync(sql, few)).toMatchObject({ outcome: "refused" });
  const { out } = await runCommand(url, ["catalog", "held"]);
  expect(out.split("\n")[1]).toMatch(
    /^The document from test removes 20 of 21 models: since \d{4}-.*Z, seen 1 times, waits$/,
  );
  expect(out.split("\n")[2]).toContain("removes 20 of 20 models of acme:");
  const decide = async (decision: "accept" | "reject") =>
    (await runCommand(url, ["catalog", decision, "--all"])).out.replaceAll(/since \S+,/g, "since then,");
  expect(await decide("reject")).toBe(
    [
      "Rejected the document that waits. It is not taken while its source repeats it.",
      "The document from test removes 20 of 21 models: since then, seen 1 times, rejected",
      "The document from test removes 20 of 20 models of acme: since then, seen 1 times, rejected\n",
    ].join("\n"),
  );
  expect(await sync(sql, few)).toMatchObject({ outcome: "refused" });
  expect(await decide("accept")).toBe(
    [
      "Accepted the document that waits. The next sync takes it if it finds the same numbers; `bun run catalog-sync --once` syncs now.",
      "The document from test removes 20 of 21 models: since then, seen 2 times, accepted",
      "The document from test removes 20 of 20 models of acme: since then, seen 2 times, accepted\n",
    ].join("\n"),
  );
  expect(await sync(sql, few)).toMatchObject({ outcome: "changed", counts: { gone: 20 } });
});

test("catalog accept --document and reject --document do not change held prices", async () => {
  await using db = await openTestDatabase();
  const { sql, url } = db;
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, {}]));
  await sync(sql, { acme: many, other: { a: PAID, b: PAID } });
  await sync(sql, { acme: many, other: { a: FREE, b: FREE } });
  await runCommand(url, ["catalog", "reject", "--model", "other/a"]);
  const few = { other: { a: FREE, b: FREE } };
  expect(await sync(sql, few)).toMatchObject({ outcome: "refused" });
  const listStates = async () => (await listHeldPrices(sql)).map(({ rejectedAt }) => rejectedAt !== null);
  for (const [action, decision] of [
    ["reject", "rejected"],
    ["accept", "accepted"],
  ] as const) {
    const result = await runJson(url, ["catalog", action, "--document"]);
    expect(result).toEqual({ decision, models: [], documents: 1 });
    expect(await listStates()).toEqual([true, false]);
  }
  expect(await sync(sql, few)).toMatchObject({ outcome: "changed", counts: { gone: 20 } });
  expect([await listStates(), await readInputs(sql)]).toEqual([[true, false], { a: 3, b: 3 }]);
  expect(await listAudit(sql)).toEqual([
    "catalog.reject other/a",
    "catalog.reject document",
    "catalog.accept document",
  ]);
});

test("an invalid catalog accept or reject fails and changes nothing", async () => {
  await using db = await openTestDatabase();
  for (const [flags, message] of [
    [[], "Pass either --all, --document or --model"],
    [["--all", "--model", "a/b"], "Pass either --all, --document or --model"],
    [["--all", "--document"], "Pass either --all, --document or --model"],
    [["--model", "gpt-5"], "--model must be PROVIDER/ID, such as openai/gpt-5"],
  ] as const) {
    const { exitCode, err } = await runCommand(db.url, ["catalog", "accept", ...flags]);
    expect([exitCode, err]).toEqual([2, `${message}\n`]);
  }
  expect(await runFailing(db.url, ["catalog", "reject", "--model", "openai/gpt-5"])).toBe(
    'No price of "openai/gpt-5" waits. `bun run admin catalog held` lists what does.',
  );
  expect(await runFailing(db.url, ["catalog", "accept", "--document"])).toBe(
    "No document waits. `bun run admin catalog held` lists what does.",
  );
  expect(await listAudit(db.sql)).toEqual([]);
});
