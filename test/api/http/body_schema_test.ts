import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createBodyCheck } from "../../../api/http/body_schema.ts";

test("an open schema is rejected", () => {
  const closed = { additionalProperties: false };
  const schemas = [
    Type.Object({}),
    Type.Object({ list: Type.Array(Type.String()) }, closed),
    Type.Object({ list: Type.Array(Type.Object({}), { maxItems: 1 }) }, closed),
  ];
  for (const schema of schemas) expect(() => createBodyCheck(schema)).toThrow("Cannot check a body");
  expect(() => createBodyCheck(Type.Object({ ratio: Type.Number() }, closed))).not.toThrow();
});
