/** Operation handlers that the compiler accepts or rejects. `bun run check` compiles this file. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { jsonText, operation, reply } from "../../../api/http/operation.ts";
import { integer } from "../../../api/http/query.ts";

const BASE = {
  id: "getNumber",
  method: "GET",
  path: "/api/v1/number",
  tag: "Numbers",
  summary: "Get a number",
  description: "A number.",
} as const;
const OneNumber = Type.Object({ data: Type.Number() });

test("the declaration determines the types of a handler's input and output", () => {
  const operations = [
    operation({ ...BASE, access: "caller", response: { 200: OneNumber } }, async ({ caller }) =>
      reply(200, { data: caller.userId.length }),
    ),
    operation({ ...BASE, access: "public", response: { 200: OneNumber } }, async () =>
      reply(200, jsonText('{"data":1}')),
    ),
    operation({ ...BASE, access: "public", response: { 200: OneNumber } }, async () =>
      reply(200, () => ({ data: 1 }), { etag: '"1"' }),
    ),
    operation(
      { ...BASE, access: "public", response: { 200: { description: "A file", files: { "text/csv": "" } } } },
      async () => reply(200, new ReadableStream<Uint8Array>()),
    ),
    operation(
      {
        ...BASE,
        access: "public",
        params: { name: Type.String() },
        query: { limit: integer({ min: 0, max: 1, unset: null }, "Limit") },
        body: Type.Object({ size: Type.Number() }),
        response: { 200: OneNumber, 204: null },
      },
      async ({ params, query, body, caller }) => {
        const limit: number | null = query.limit;
        // @ts-expect-error: the caller may be anonymous.
        caller.userId;
        // @ts-expect-error: there is no such query parameter.
        query.offset;
        // @ts-expect-error: there is no such path parameter.
        params.other;
        // @ts-expect-error: the body has no such field.
        body.other;
        return limit === null ? reply(204, null) : reply(200, { data: params.name.length + body.size });
      },
    ),
    operation(
      { ...BASE, access: "public", response: { 200: OneNumber } },
      // @ts-expect-error: the status is not declared.
      async () => reply(201, { data: 1 }),
    ),
    operation(
      { ...BASE, access: "public", response: { 200: OneNumber } },
      // @ts-expect-error: the response body is not as declared.
      async () => reply(200, { data: "1" }),
    ),
    operation(
      { ...BASE, access: "public", response: { 200: OneNumber } },
      // @ts-expect-error: a file is not JSON.
      async () => reply(200, new Blob()),
    ),
  ];
  expect(operations).toHaveLength(8);
});
