/** The displayed price per million tokens of a definition's model. */
import { expect, test } from "bun:test";
import { describeCost } from "../../../../../api/pages/definitions/side_column.ts";

test("prices are formatted as on the pages of models, even very small prices", () => {
  expect(describeCost({ input: 2, output: 10 })).toBe("$2.00 in, $10.00 out per 1M tokens");
  expect(describeCost({ input: 0.0000001, output: 0.075 })).toBe("$0.0000001 in, $0.075 out per 1M tokens");
  expect(describeCost({ input: 2 })).toBe("$2.00 in, unknown out per 1M tokens");
});
