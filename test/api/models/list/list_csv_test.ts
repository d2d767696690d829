import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";

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

test("values that a spreadsheet would split or run as formulas are escaped in the CSV", async () => {
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

test("a filter accepts a very small price in any notation, and the price is listed and charged exactly", async () => {
  await using app = await openTestApp();
  const cost = { input: 1e-10, output: 2.5e-7, reasoning: 3e-8 };
  await syncFrom(
    app.db.sql,
    documentSource(makeDocument({ acme: { tiny: { cost }, free: { cost: { input: 0, output: 0 } } } })),
  );
  await syncFrom(
    app.db.sql,
    documentSource(makeDocument({ acme: { tiny: { cost: { ...cost, input: 2e-10 } }, free: {} } })),
  );
  const csv = await (
    await app.request("/api/v1/models?format=csv&minInputCost=1e-10&maxInputCost=2E-10")
  ).text();
  expect(csv.split("\r\n")[1]).toContain(",0.0000000002,0.00000025,,,0.00000003,");
  for (const minimum of ["1e-10", "0.0000000001", "2e-10"]) {
    const response = await app.request(`/api/v1/models?minInputCost=${minimum}&maxInputCost=1e-9`);
    const { data } = (await response.json()) as { data: { models: { modelId: string; cost: object }[] } };
    expect(data.models.map(({ modelId, cost }) => [modelId, cost])).toEqual([
      ["tiny", { input: 2e-10, output: 2.5e-7, reasoning: 3e-8 }],
    ]);
  }
  const history = await (await app.request("/api/v1/models/history/acme/tiny")).json();
  expect(history).toMatchObject({ data: { changes: [{ oldValue: 1e-10, newValue: 2e-10 }] } });
  const priced = await app.request("/api/v1/models/cost", {
    method: "POST",
    body: { items: [{ provider: "acme", modelId: "tiny", inputTokens: 1, outputTokens: 0 }] },
  });
  expect(await priced.json()).toMatchObject({ data: { total: "0.0000000000000002" } });
});
