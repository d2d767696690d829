import { expect, test } from "bun:test";
import { t } from "elysia";
import { createBodyCheck } from "../../../../api/http/body/body_schema.ts";

test("an open schema is rejected", () => {
  const closed = { additionalProperties: false };
  const schemas = [
    t.Object({}),
    t.Object({ list: t.Array(t.String()) }, closed),
    t.Object({ list: t.Array(t.Object({}), { maxItems: 1 }) }, closed),
    // Takes "1", too.
    t.Object({ count: t.Integer() }, closed),
    t.Object({ list: t.Array(t.Numeric(), { maxItems: 1 }) }, closed),
  ];
  for (const schema of schemas) expect(() => createBodyCheck(schema)).toThrow("Cannot check a body");
  expect(() => createBodyCheck(t.Object({ ratio: t.Number() }, closed))).not.toThrow();
});
