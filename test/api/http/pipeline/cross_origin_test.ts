import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

const ORIGIN = { origin: "https://other.example" };
/** Routes for programs. All other routes are for people and operators. */
const FOR_PROGRAMS = /^\/(?:api\/v1|schemas)\/|^\/swagger\/json$/;

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp({ config: { rateLimitAnonymousPerMinute: 100_000 } });
});
afterAll(() => app[Symbol.asyncDispose]());

/** Lists the GET routes that pages of other origins may read as `open`, and all other GET routes as `closed`. */
function listReads(): { open: string[]; closed: string[] } {
  const open: string[] = [];
  const closed: string[] = [];
  for (const { method, pattern, access } of app.app.routes) {
    if (method !== "GET") continue;
    const isOpen = access === "public" && FOR_PROGRAMS.test(pattern);
    (isOpen ? open : closed).push(pattern.replaceAll(/:\w+|\*/g, "x"));
  }
  return { open, closed };
}

function corsHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
}

const preflight = (path: string, requested: string, headers: Record<string, string> = {}) =>
  app.request(path, {
    method: "OPTIONS",
    headers: { ...ORIGIN, "access-control-request-method": requested, ...headers },
  });

test("pages of other origins can read only responses that need no credential, whatever the status", async () => {
  const { open, closed } = listReads();
  expect(open).toContain("/api/v1/models");
  expect(open).toContain("/swagger/json");
  expect(open).toContain("/schemas/x");
  expect(closed).toContain("/metrics");
  expect(closed).toContain("/health/ready");
  expect(closed).toContain("/models");
  const shared = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" };
  for (const path of open) {
    for (const address of [path, `${path}?no-such-parameter=1`]) {
      const response = await app.request(address, { headers: ORIGIN });
      expect([address, corsHeaders(response)]).toEqual([address, shared]);
    }
  }
  for (const path of closed) {
    expect([path, corsHeaders(await app.request(path, { headers: ORIGIN }))]).toEqual([path, {}]);
    expect([path, corsHeaders(await preflight(path, "GET"))]).toEqual([path, {}]);
  }
});

test("pages of other origins can also read responses with 304, 404 and 429", async () => {
  await using limited = await openTestApp({ config: { rateLimitAnonymousPerMinute: 3 } });
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await limited.request(path, { headers: { ...ORIGIN, ...headers } });
    return { status: response.status, origin: response.headers.get("access-control-allow-origin"), response };
  };
  const first = await read("/api/v1/models");
  const etag = first.response.headers.get("etag") ?? "";
  const statuses = [
    await read("/api/v1/models", { "if-none-match": etag }),
    await read("/api/v1/definitions/agent/nothing"),
    await read("/api/v1/models"),
  ];
  expect(statuses.map(({ status, origin }) => [status, origin])).toEqual([
    [304, "*"],
    [404, "*"],
    [429, "*"],
  ]);
});

test("a preflight request for a read returns 204 and allows every header but Authorization", async () => {
  for (const requested of ["GET", "HEAD"]) {
    const response = await preflight("/api/v1/models?limit=1", requested, {
      "access-control-request-headers": "if-none-match,x-request-id",
    });
    expect([response.status, await response.text(), corsHeaders(response)]).toEqual([
      204,
      "",
      {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "*",
        "access-control-max-age": "86400",
      },
    ]);
  }
});

test("a preflight request for a write or for a read with a credential is refused", async () => {
  for (const [path, requested, status] of [
    ["/api/v1/models/cost", "POST", 405],
    ["/api/v1/definitions/agent/x", "PUT", 405],
    ["/api/v1/definitions/agent/x", "DELETE", 405],
    ["/api/v1/auth/me", "GET", 405],
    ["/metrics", "GET", 405],
    ["/api/v1/no-such-route", "GET", 404],
  ] as const) {
    const response = await preflight(path, requested);
    expect([path, response.status, corsHeaders(response)]).toEqual([path, status, {}]);
  }
  const headers = { "access-control-request-headers": "accept, authorization" };
  const withKey = await preflight("/api/v1/models", "GET", headers);
  expect([withKey.status, corsHeaders(withKey)]).toEqual([405, {}]);
});

test("other origins cannot read the response to a request with a credential", async () => {
  const { key } = await app.make.person();
  for (const headers of [
    { authorization: `Bearer ${key}` },
    { authorization: "Bearer wrong" },
    { cookie: "a=b" },
  ]) {
    const response = await app.request("/api/v1/models", { headers: { ...ORIGIN, ...headers } });
    expect(corsHeaders(response)).toEqual({});
  }
});
