import { expect, test } from "bun:test";
import type { SourceModel } from "../../../catalog-sync/source_document.ts";
import { createTiering } from "../../../shared/models/tiers.ts";
import { sourceRow } from "../../helpers/models/catalog.ts";

function model(provider: string, id: string, fields: Record<string, unknown> = {}): SourceModel {
  return { ...(sourceRow(id, fields) as SourceModel), provider };
}

const FREE = { cost: { input: 0, output: 0 } };
const UNPRICED = { cost: undefined };

for (const [id, fields, tier, tierSource] of [
  ["o3", {}, "reasoning", "reasoner"],
  ["deepseek/deepseek-r1:free", FREE, "reasoning", "reasoner"],
  ["deepseek-reasoner", {}, "reasoning", "reasoner"],
  ["kimi-k2-thinking-turbo", {}, "reasoning", "reasoner"],
  ["QwQ-32B", {}, "reasoning", "reasoner"],
  ["sonar-deep-research", {}, "reasoning", "reasoner"],
  ["plain", { family: "o-mini" }, "reasoning", "reasoner"],
  ["plain", { family: "magistral-small" }, "reasoning", "reasoner"],
  ["grok-4-fast-non-reasoning", {}, "standard", "price"],
  ["qwen3-non-thinking", {}, "standard", "price"],
  ["o3", { modalities: { input: ["text"], output: ["audio"] } }, "standard", "price"],
  ["reasoning-embedding", {}, "standard", "price"],
  // The capability `reasoning` does not make a model a reasoner. Only its id or family does.
  ["gpt-5", { reasoning: true }, "standard", "price"],
  ["foo3-r10", {}, "standard", "price"],
  ["cheap", { cost: { input: 0.5, output: 2.49 } }, "budget", "price"],
  ["at-one", { cost: { input: 0.5, output: 2.5 } }, "standard", "price"],
  ["below-seven", { cost: { input: 5, output: 12.99 } }, "standard", "price"],
  ["at-seven", { cost: { input: 5, output: 13 } }, "premium", "price"],
  ["alone", FREE, "budget", "free"],
  ["alone", UNPRICED, "standard", "unpriced"],
] as const) {
  test(`${id} ${JSON.stringify(fields)} is ${tier}, by the rule "${tierSource}"`, () => {
    const row = model("acme", id, fields);
    expect(createTiering([row])(row)).toEqual({ tier, tierSource });
  });
}

test("a model without a price gets the tier of the median price at other providers", () => {
  const peers = [1, 8, 20].map((input, index) =>
    model(`p${index}`, `x/Big-1.0:v${index}`, { cost: { input, output: input } }),
  );
  for (const fields of [FREE, UNPRICED]) {
    const row = model("acme", "big-1-0", fields);
    expect(createTiering([row, ...peers])(row)).toEqual({ tier: "premium", tierSource: "peers" });
    // The median of two prices is their mean: (1 + 8) / 2.
    expect(createTiering([row, ...peers.slice(0, 2)])(row)).toEqual({
      tier: "standard",
      tierSource: "peers",
    });
  }
});

test("prices at the same provider and free models at other providers do not affect a free model's tier", () => {
  const row = model("acme", "big-1", FREE);
  const others = [
    model("acme", "x/big-1", { cost: { input: 50, output: 50 } }),
    model("beta", "big-1", FREE),
  ];
  expect(createTiering([row, ...others])(row)).toEqual({ tier: "budget", tierSource: "free" });
});
