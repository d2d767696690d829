import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

const over = (size: number, prices: object) => ({ ...prices, tier: { type: "context", size } });

for (const [what, tiers, text] of [
  [
    "cheaper, dearer and partly priced tiers with the prices that they state",
    [
      over(100_000, { cache_read: 0.05 }),
      over(200_000, { input: 2, output: 3 }),
      over(300_000, { input: 1 }),
    ],
    "Prices of larger requests: over 100,000 tokens of context, $0.05 cache read; over 200,000 tokens of context, $2.00 input, $3.00 output; over 300,000 tokens of context, $1.00 input.",
  ],
  [
    "no tier that changes nothing",
    [
      over(100_000, { input: 1, output: 2 }),
      over(200_000, { input: 4 }),
      over(300_000, { input: 4, output: 2 }),
    ],
    "Prices of larger requests: over 200,000 tokens of context, $4.00 input.",
  ],
  ["nothing if every tier has the base's prices", [over(100_000, { input: 1, output: 2 })], null],
] as const) {
  test(`a model shows ${what}`, async () => {
    await using app = await openTestApp();
    const cost = { input: 1, output: 2, tiers };
    await syncFrom(app.db.sql, documentSource(makeDocument({ acme: { tiered: { cost } } })));
    const page = await (await openPage(app, "/models/acme/tiered")).text();
    expect(page).toContain("Input, $1.00");
    expect(/<p class="quiet">(Prices of larger requests: .*?)<\/p>/.exec(page)?.[1] ?? null).toBe(text);
    expect(page).not.toContain("cost more");
  });
}
