/** The program in docs/cost.md prints a correct bill. */
import { expect, test } from "bun:test";
import { openListeningApp } from "../helpers/http/listening_app.ts";
import { documentSource, makeDocument, syncFrom } from "../helpers/models/catalog.ts";

async function readProgram(): Promise<string> {
  const page = await Bun.file(new URL("../../docs/cost.md", import.meta.url)).text();
  const program = /^```python\n(.*?)^```$/ms.exec(page)?.[1];
  if (!program) throw new Error("Cannot find the program in docs/cost.md");
  return program;
}

async function printBill(origin: string, usage: readonly object[]) {
  const child = Bun.spawn(["python3", "-c", await readProgram(), "2026-01"], {
    env: { PATH: process.env["PATH"] ?? "", ULR_API: `${origin}/api/v1` },
    stdin: Buffer.from(usage.map((line) => `${JSON.stringify(line)}\n`).join("")),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => line.split(/ +/).join(" "));
  return { code: await child.exited, lines, err };
}

test("the program in docs/cost.md prices each execution at that day's prices", async () => {
  await using server = await openListeningApp();
  const { sql } = server.app.db;
  const catalogOf = (input: number) =>
    makeDocument({ openai: { "gpt-5": { cost: { input, output: 10, cache_read: 0.1 } }, other: {} } });
  await syncFrom(sql, documentSource(catalogOf(2)));
  await sql`update models set prices_known_since = '2026-01-02'`;
  await sql`update model_alias_targets set valid_from = '2026-01-02'`;
  await syncFrom(sql, documentSource(catalogOf(1)));
  await sql`update model_price_changes set changed_at = '2026-01-15'`;

  const tokens = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 10 };
  const daily = Array.from(
    { length: 30 },
    (_, day) => `2026-01-${String(day + 2).padStart(2, "0")}T12:00:00Z`,
  );
  const usage = [
    ...daily.map((at) => ({ at, model: "openai/gpt-5", ...tokens })),
    // More executions than one batch.
    ...Array.from({ length: 1000 }, () => ({ at: "2026-01-20T00:00:00+01:00", model: "gpt", ...tokens })),
    { at: "2026-02-01T00:00:00Z", model: "gpt", ...tokens },
  ];
  // 13 days at 0.003001 USD and 17 days at 0.002001 USD, then 1,000 executions at 0.002001 USD.
  const lines = ["gpt 2.001000 USD", "openai/gpt-5 0.073030 USD", "Total 2.074030 USD"];
  expect(await printBill(server.origin, usage)).toEqual({ code: 0, lines, err: "" });

  const unknown = { at: "2026-01-01T00:00:00Z", model: "openai/gpt-5", ...tokens };
  const bill = await printBill(server.origin, [...usage, unknown]);
  expect(bill).toEqual({
    code: 1,
    lines,
    err: expect.stringMatching(
      /^2026-01-01T00:00:00Z openai\/gpt-5: The prices of model "openai\/gpt-5" are known since 2026-01-02T00:00:00.000Z\. Choose a later asOf\.\nExecutions without a price: 1\n$/,
    ),
  });
});
