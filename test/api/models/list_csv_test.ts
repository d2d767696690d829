import { expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

test("the CSV has a column for every price", async () => {
  await using app = await openTestApp();
  const cost = {
    input: 1,
    output: 2,
    cache_write: 0.3,
    reasoning: 4,
    input_audio: 5,
    output_audio: 6,
    context_over_200k: { input: 7 },
  };
  const limit = { context: 128_000, input: 100_000, output: 8192 };
  const models = { a: { cost, limit }, b: { cost: undefined, structured_output: undefined } };
  await syncFrom(app.db.sql, documentSource(makeDocument({ acme: models })));
  const text = await (await app.request("/api/v1/models?format=csv")).text();
  const [header = "", first = "", second = ""] = text.split("\r\n");
  const columns = header.split(",");
  const [start, end] = [columns.indexOf("cost.input"), columns.indexOf("cost.tiers")];
  expect(columns.slice(start, end + 1)).toEqual([
    "cost.input",
    "cost.output",
    "cost.cacheRead",
    "cost.cacheWrite",
    "cost.reasoning",
    "cost.inputAudio",
    "cost.outputAudio",
    "cost.tiers",
  ]);
  expect(first).toContain(',1,2,,0.3,4,5,6,"[{""contextOver"":200000,""input"":7}]",128000,100000,8192,');
  expect(second).toContain(",,,,,,,,,128000,,8192,");
});

test("what a spreadsheet would cut or run stands in quotes, as in exports", async () => {
  await using app = await openTestApp();
  const names = ["a;=1+1", "b\t=1+1", "=c", 'd "e"', "f"];
  const models = Object.fromEntries(names.map((name, index) => [`m${index}`, { name }]));
  await syncFrom(app.db.sql, documentSource(makeDocument({ acme: models })));
  const [, ...lines] = (await (await app.request("/api/v1/models?format=csv")).text()).split("\r\n");
  expect(lines.map((line) => line.split(",")[2])).toEqual([
    '"a;=1+1"',
    '"b\t=1+1"',
    "'=c",
    '"d ""e"""',
    "f",
    undefined,
  ]);
});
