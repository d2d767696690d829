import { expect, test } from "bun:test";
import { runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

const REASON = "The source had <b>0</b> for 13 hours.";

const correct = (app: TestApp, price: string) =>
  runJson(app.db.url, [
    ...["catalog", "correct", "--model", "acme/wrong", "--kind", "input", "--price", price],
    ...["--from", "2026-06-25T14:00:00Z", "--to", "2026-06-26T03:00:00Z", "--reason", REASON],
  ]);

async function openCorrected(): Promise<TestApp> {
  const app = await openTestApp();
  await syncFrom(
    app.db.sql,
    documentSource(makeDocument({ acme: { wrong: { name: "Wrong" }, unpriced: { cost: undefined } } })),
  );
  await app.db.sql`update models set prices_known_since = '2026-06-01'`;
  await app.deps.catalog.refresh();
  return app;
}

/** Returns the headings and rows of the corrections table, or an empty list if the page has no such table. */
async function readTable(app: TestApp, path: string): Promise<string[][]> {
  const page = await (await openPage(app, path)).text();
  const [, table = ""] = /aria-label="Corrected prices">(.*?)<\/table>/s.exec(page) ?? [];
  const rows = table.split("<tr>").slice(1);
  return rows.map((row) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell.replaceAll(/<[^>]*>/g, "")),
  );
}

test("the pages for a model and a comparison list corrections of past prices, newest first", async () => {
  await using app = await openCorrected();
  const compared = "/models/compare?model=acme/unpriced&model=acme/wrong";
  for (const path of ["/models/acme/wrong", compared]) expect(await readTable(app, path)).toEqual([]);
  await correct(app, "3.5");
  await correct(app, "unknown");
  const columns = ["Price", "From", "To", "Corrected to", "Reason"];
  const times = ["2026-06-25 14:00 UTC", "2026-06-26 03:00 UTC"];
  const reason = "The source had &lt;b&gt;0&lt;/b&gt; for 13 hours.";
  const rows = [
    ["Input", ...times, "unknown", reason],
    ["Input", ...times, "$3.50", reason],
  ];
  expect(await readTable(app, "/models/acme/wrong")).toEqual([columns, ...rows]);
  expect(await readTable(app, compared)).toEqual([
    ["Model", ...columns],
    ...rows.map((row) => ["Wrong", ...row]),
  ]);
  expect(await readTable(app, "/models/acme/unpriced")).toEqual([]);
});

test("a model without a price also lists corrections, and a corrected price is not called unchanged", async () => {
  await using app = await openCorrected();
  await correct(app, "3.5");
  expect(await (await openPage(app, "/models/acme/wrong")).text()).not.toContain("No change since");
  await syncFrom(
    app.db.sql,
    documentSource(makeDocument({ acme: { wrong: { cost: undefined }, unpriced: {} } })),
  );
  await app.db.owner`delete from model_price_changes`;
  await app.deps.catalog.refresh();
  const page = await (await openPage(app, "/models/acme/wrong")).text();
  expect(page).toContain("The price of this model is unknown.");
  expect(await readTable(app, "/models/acme/wrong")).toHaveLength(2);
});
