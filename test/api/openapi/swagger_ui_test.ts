import { describe, expect, spyOn, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { operation, reply } from "../../../api/http/operation.ts";
import { limit } from "../../../api/http/query.ts";
import { createSwaggerOperations } from "../../../api/openapi/swagger_ui.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { readDocument, withInlineComponents } from "../../helpers/http/openapi.ts";

const Thing = Type.Object({ data: Type.Integer() }, { description: "The thing" });

const readThing = operation(
  {
    id: "getThing",
    method: "GET",
    path: "/api/v1/things/{name}",
    access: "public",
    tag: "Operations",
    summary: "Get a thing",
    description: "By its name.",
    params: { name: Type.String({ description: "Its name", examples: ["ball"] }) },
    query: { limit: limit({ max: 10, unset: 5 }, "How many") },
    response: { 200: Thing },
  },
  async () => reply(200, { data: 1 }),
);

const makeThing = operation(
  {
    id: "makeThing",
    method: "POST",
    path: "/api/v1/things",
    access: "caller",
    tag: "Operations",
    summary: "Make a thing",
    description: "With a name.",
    body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
    response: { 200: Thing },
    fails: ["PROJECT_NOT_FOUND", "NOT_FOUND"],
  },
  async () => reply(200, { data: 1 }),
);

describe("GET /swagger", () => {
  test("is a page with a strict Content-Security-Policy", async () => {
    await using api = await openTestApp();
    const { status, headers } = await api.request("/swagger");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
  });

  test("loads only files that this process serves and has no inline script or style", async () => {
    await using api = await openTestApp();
    const page = await (await api.request("/swagger")).text();
    const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? "");
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    for (const address of addresses) {
      expect(address).toStartWith("/swagger/");
      const { status, headers } = await api.request(address);
      expect([address, status, headers.get("x-content-type-options")]).toEqual([address, 200, "nosniff"]);
    }
    expect(page).not.toMatch(/<style|style=|<script>|onload=/);
  });

  test("serves no other file", async () => {
    await using api = await openTestApp();
    for (const name of [
      "package.json",
      "..%2Fpackage.json",
      "index.html",
      "%2e%2e%2f%2e%2e%2fpackage.json",
    ]) {
      expect((await api.request(`/swagger/assets/${name}`)).status).toBe(404);
    }
  });
});

test("every page and file of /swagger has a strong ETag and returns 304 for that ETag", async () => {
  await using api = await openTestApp();
  const page = await (await api.request("/swagger")).text();
  const files = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? "");
  for (const path of ["/swagger", "/favicon.ico", ...files]) {
    // The Accept-Encoding header that browsers send.
    const sent = { "accept-encoding": "gzip, deflate, br, zstd" };
    const { headers } = await api.request(path, { headers: sent });
    const etag = headers.get("etag") ?? "";
    expect([path, etag]).toEqual([path, expect.stringMatching(/^"[\w-]{32,}"$/)]);
    const again = await api.request(path, { headers: { ...sent, "if-none-match": etag } });
    expect([path, again.status, await again.text()]).toEqual([path, 304, ""]);
    const policies = [again, { headers }].map((of) => of.headers.get("content-security-policy"));
    expect([path, policies[0]]).toEqual([path, policies[1] ?? ""]);
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  }
});

describe("GET /swagger/json", () => {
  test("is serialized at most once for several requests, and rejects a query", async () => {
    await using api = await openTestApp();
    const stringify = spyOn(JSON, "stringify");
    const headers = { "accept-encoding": "gzip" };
    for (let times = 0; times < 3; times += 1) {
      const request = new Request("http://localhost/swagger/json", { headers });
      const response = await api.app.handle(request, "192.0.2.1");
      expect([response.status, response.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      expect(
        JSON.parse(await new Response(Bun.gunzipSync(await response.arrayBuffer())).text()),
      ).toHaveProperty("paths");
    }
    const documents = stringify.mock.results.filter(({ value }) => String(value).includes('"openapi":"3.1'));
    stringify.mockRestore();
    expect(documents.length).toBeLessThanOrEqual(1);
    expect((await api.request("/swagger/json?x=1")).status).toBe(400);
  });

  test("describes the service as OpenAPI 3", async () => {
    await using api = await openTestApp();
    const document = await (await api.request("/swagger/json")).json();
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\./),
      info: { title: expect.any(String), version: expect.any(String) },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    });
  });

  test("describes paths, parameters, bodies, responses, errors and access", async () => {
    const described = [readThing, makeThing];
    const routes = [
      ...described,
      ...createSwaggerOperations(described, {
        sessionCookie: "ulr_session",
        publicUrl: "http://localhost:3000",
      }),
    ];
    await using api = await openTestApp({ routes });
    const document = withInlineComponents(await readDocument(api));
    expect(Object.keys(document.paths)).toEqual(["/api/v1/things/{name}", "/api/v1/things"]);
    const read = document.paths["/api/v1/things/{name}"]?.get;
    expect(read).toMatchObject({
      security: [{}, { bearer: [] }, { cookie: [] }],
      parameters: [
        { in: "path", name: "name", required: true, example: "ball" },
        { in: "query", name: "limit" },
      ],
    });
    expect(Object.keys(read?.responses?.["200"]?.content ?? {})).toEqual(["application/json"]);
    const write = document.paths["/api/v1/things"]?.post;
    expect(write).toMatchObject({ summary: "Make a thing", security: [{ bearer: [] }, { cookie: [] }] });
    expect(Object.keys(write?.requestBody?.content ?? {})).toEqual(["application/json"]);
    expect(write?.responses?.["404"]?.description).toBe(
      "`PROJECT_NOT_FOUND`: Project not found. Check its name or id.\n\n`NOT_FOUND`: Not found. Check the name or id.",
    );
    for (const status of ["400", "401", "429", "500", "503"]) {
      expect(write?.responses?.[status]?.content).toHaveProperty("application/json");
    }
  });
});
