import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { jsonText, operation, reply } from "../../../../api/http/operation.ts";
import { integer, rejectQuery, word } from "../../../../api/http/query.ts";
import { ApiError } from "../../../../shared/errors.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const BASE = { tag: "Things", summary: "Get a thing", description: "A thing." } as const;
const Thing = Type.Object({ data: Type.Unknown() });

const getThing = operation(
  {
    ...BASE,
    id: "getThing",
    method: "GET",
    path: "/api/v1/things/{kind}/{+name}",
    access: "public",
    params: { kind: Type.String({ maxLength: 5 }), name: Type.String() },
    query: { limit: integer({ min: 1, max: 9, unset: 3 }, "Limit") },
    response: { 200: Thing },
  },
  async ({ params, query }) => reply(200, { data: { ...params, ...query } }),
);

const createThing = operation(
  {
    ...BASE,
    id: "createThing",
    method: "POST",
    path: "/api/v1/things",
    access: "caller",
    body: Type.Object({ size: Type.Integer() }, { additionalProperties: false }),
    response: { 201: Thing, 204: null },
  },
  async ({ body, caller }) =>
    body.size === 0 ? reply(204, null) : reply(201, { data: [body.size, caller.userId] }),
);

/** Returns an operation that appends its query parameter `as` to `made` whenever it builds a JSON text. */
const listThings = (made: string[]) =>
  operation(
    {
      ...BASE,
      id: "listThings",
      method: "GET",
      path: "/api/v1/things",
      access: "public",
      usesOrg: true,
      conditional: true,
      query: { as: word(["text", "tagged", "csv"], "Form") },
      response: { 200: { json: Thing, orFile: true } },
    },
    async ({ query }) => {
      if (query.as === "csv") {
        return reply(200, new Blob(["a\n"]), { headers: { "Content-Type": "text/csv" }, etag: '"csv"' });
      }
      const make = () => {
        made.push(query.as);
        return jsonText('{"data":   []}');
      };
      return query.as === "text" ? reply(200, make()) : reply(200, make, { etag: '"things"' });
    },
  );

const OPERATIONS = [getThing, createThing, listThings([])];

test("parameters are decoded, and the parameter for the rest of a path keeps its slashes", async () => {
  await using api = await openTestApp({ routes: OPERATIONS });
  const response = await api.request("/api/v1/things/big/a%2Fb/c%20d?limit=2");
  expect([response.status, await response.json()]).toEqual([
    200,
    { data: { kind: "big", name: "a/b/c d", limit: 2 } },
  ]);
});

test("invalid parameters return 400, an unknown path returns 404, and a wrong method returns 405", async () => {
  await using api = await openTestApp({ routes: OPERATIONS });
  const paths = [
    ["/api/v1/things/bigger/x", "kind"],
    ["/api/v1/things/big/x?limit=0", "limit"],
    ["/api/v1/things/big/x?limits=1", "limits"],
  ] as const;
  for (const [path, problem] of paths) {
    const response = await api.request(path);
    const { error } = (await response.json()) as { error: { details: { errors: { path: string }[] } } };
    expect([response.status, error.details.errors[0]?.path]).toEqual([400, problem]);
  }
  expect((await api.request("/api/v1/others")).status).toBe(404);
  const response = await api.request("/api/v1/things", { method: "PUT" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
});

test("access and body are checked before the handler is called", async () => {
  await using api = await openTestApp({ routes: OPERATIONS });
  const { key, user } = await api.make.person();
  const send = async (body: object, sender?: string) => {
    const how = { method: "POST", body, ...(sender ? { key: sender } : {}) };
    const response = await api.request("/api/v1/things", how);
    return [response.status, await response.text()];
  };
  expect(await send({ size: 1 })).toEqual([401, expect.any(String)]);
  expect(await send({ size: 1, color: "red" }, key)).toEqual([400, expect.stringContaining("color")]);
  expect(await send({ size: 1 }, key)).toEqual([201, JSON.stringify({ data: [1, user.id] })]);
  expect(await send({ size: 0 }, key)).toEqual([204, ""]);
});

test("a conditional operation returns 304 for its ETag, and builds no body if the handler supplies the ETag", async () => {
  const made: string[] = [];
  await using api = await openTestApp({ routes: [listThings(made)] });
  for (const as of ["text", "tagged", "csv"]) {
    const path = `/api/v1/things?as=${as}`;
    const first = await api.request(path);
    const etag = first.headers.get("etag") ?? "";
    expect([as, first.status, await first.text()]).toEqual([
      as,
      200,
      as === "csv" ? "a\n" : '{"data":   []}',
    ]);
    expect(first.headers.get("content-type")).toBe(as === "csv" ? "text/csv" : "application/json");
    expect(first.headers.get("cache-control")).toBe("public, no-cache");
    expect(first.headers.get("vary")).toContain("X-Org-Slug");
    const again = await api.request(path, { headers: { "if-none-match": etag } });
    expect([as, again.status, await again.text(), again.headers.get("etag")]).toEqual([as, 304, "", etag]);
  }
  expect(made).toEqual(["text", "text", "tagged"]);
});

test("HEAD returns the status and Content-Length of GET without a body", async () => {
  await using api = await openTestApp({ routes: OPERATIONS });
  const response = await api.request("/api/v1/things?as=tagged", { method: "HEAD" });
  expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
    200,
    "14",
    "",
  ]);
});

test("a handler with an uncheckedQuery can return 404 before it checks the query", async () => {
  const find = operation(
    {
      ...BASE,
      id: "findThing",
      method: "GET",
      path: "/api/v1/found/{name}",
      access: "public",
      params: { name: Type.String() },
      uncheckedQuery: { limit: integer({ min: 1, max: 9, unset: 3 }, "Limit") },
      response: { 200: { description: "A file or nothing", files: { "text/csv": null } } },
    },
    async ({ params, request }) => {
      if (params.name !== "there") throw new ApiError("NOT_FOUND", { details: { reason: "thing" } });
      rejectQuery(request);
      return reply(200, null, { headers: { "Content-Type": "text/csv" } });
    },
  );
  await using api = await openTestApp({ routes: [find] });
  const statusOf = async (path: string) => (await api.request(`/api/v1/found/${path}`)).status;
  expect(await statusOf("there")).toBe(200);
  expect(await statusOf("there?limit=10")).toBe(400);
  expect(await statusOf("elsewhere?limit=10")).toBe(404);
});
