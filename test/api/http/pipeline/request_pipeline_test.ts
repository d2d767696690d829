import { describe, expect, test } from "bun:test";
import { openTestApp, type TestRequest } from "../../../helpers/http/app.ts";
import { probeRoutes } from "../../../helpers/http/probe_routes.ts";

const RATE_HEADERS = [
  "ratelimit-policy",
  "ratelimit",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];

async function codeOf(response: Response): Promise<[number, string, unknown]> {
  const { error } = (await response.json()) as { error: { code: string; details?: unknown } };
  return [response.status, error.code, error.details];
}

describe("X-Request-Id", () => {
  test("is kept if valid, and also appears in the error", async () => {
    await using api = await openTestApp();
    const response = await api.request("/api/v1/nowhere", { headers: { "x-request-id": "a.B-9_z" } });
    expect(response.headers.get("x-request-id")).toBe("a.B-9_z");
    expect(await response.json()).toMatchObject({ error: { requestId: "a.B-9_z" } });
  });

  test("is replaced if invalid", async () => {
    await using api = await openTestApp();
    for (const id of ["", "with space", "a".repeat(129), "ä", "a;b"]) {
      const response = await api.request("/health/live", { headers: { "x-request-id": id } });
      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("routing", () => {
  test("a path with a trailing slash reaches the same resource", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const [plain, slashed] = [await api.request("/api/v1/echo/a"), await api.request("/api/v1/echo/a/")];
    expect([plain.status, slashed.status]).toEqual([200, 200]);
    expect(await slashed.text()).toBe(await plain.text());
  });

  test("%40 is equivalent to @ in a parameter and in the path", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const paths = ["/api/v1/@acme/things/a@1.2.3", "/api/v1/%40acme/things/a%401.2.3"];
    for (const path of paths) {
      expect(await (await api.request(path)).json()).toEqual({ data: { org: "acme", name: "a@1.2.3" } });
    }
  });

  test("a parameter may hold an encoded slash and any Unicode", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request(`/api/v1/echo/${encodeURIComponent("a/b ü 🦊")}`);
    expect(await response.json()).toEqual({ data: { name: "a/b ü 🦊" } });
  });

  test("an unknown path returns 404 with the reason route, under /api/v1 and elsewhere", async () => {
    await using api = await openTestApp();
    for (const path of ["/api/v1/nowhere", "/api/v1", "/", "/api/v2/x", "/api/v1/export/datasets//"]) {
      expect(await codeOf(await api.request(path))).toEqual([404, "NOT_FOUND", { reason: "route" }]);
    }
  });

  test("the response for an unknown path links to the list of endpoints", async () => {
    await using api = await openTestApp();
    expect(await (await api.request("/api/v1/nowhere")).json()).toMatchObject({
      error: { message: "This path does not exist. GET /swagger/json lists all endpoints." },
    });
  });

  test("a wrong method returns 405, and Allow lists the valid methods", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const cases: [string, string, string][] = [
      ["PUT", "/api/v1/things", "GET, HEAD, POST, DELETE"],
      ["OPTIONS", "/api/v1/things", "GET, HEAD, POST, DELETE"],
      ["GET", "/api/v1/things/publish", "POST"],
      ["HEAD", "/api/v1/things/publish", "POST"],
      ["DELETE", "/api/v1/echo/a/", "GET, HEAD"],
    ];
    for (const [method, path, allow] of cases) {
      const response = await api.request(path, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    }
  });

  test("a URL with invalid UTF-8 or NUL is refused", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    for (const path of [
      "/api/v1/echo/a%2",
      "/api/v1/echo/%ff",
      "/api/v1/echo/a%00",
      "/api/v1/things?format=%00",
    ]) {
      const [status, code, details] = await codeOf(await api.request(path));
      expect([status, code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(details).toMatchObject({ errors: [{ path: "" }] });
    }
  });
});

describe("HEAD", () => {
  test("returns the headers and the length of the GET response, but no body", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const get = await api.request("/api/v1/echo/h%C3%A9");
    const head = await api.request("/api/v1/echo/h%C3%A9", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    expect(Number(head.headers.get("content-length"))).toBe((await get.arrayBuffer()).byteLength);
    expect(await head.text()).toBe("");
  });

  test("cancels a stream before its first byte", async () => {
    const streams = { cancelled: 0 };
    await using api = await openTestApp({ routes: probeRoutes({ streams }) });
    const response = await api.request("/api/v1/stream/endless", { method: "HEAD" });
    expect([response.status, await response.text(), streams.cancelled]).toEqual([200, "", 1]);
    expect(response.headers.get("content-length")).toBeNull();
    expect(response.headers.get("x-export-total-rows")).toBe("10");
  });

  test("gets no body for an error either", async () => {
    await using api = await openTestApp();
    const response = await api.request("/api/v1/nowhere", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([404, ""]);
  });
});

describe("headers", () => {
  test("every response under /api/v1 has the rate limit headers", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const cases: [string, TestRequest][] = [
      ["/api/v1/echo/a", {}],
      ["/api/v1/echo/a", { method: "HEAD" }],
      ["/api/v1/stream/whole", {}],
      ["/api/v1/nowhere", {}],
      ["/api/v1/echo/a", { method: "PUT" }],
      ["/api/v1/echo/a%2", {}],
      ["/api/v1/caller", {}],
      ["/api/v1/caller", { key: "wrong" }],
      ["/api/v1/things?limit=x", {}],
    ];
    for (const [path, options] of cases) {
      const { headers } = await api.request(path, options);
      for (const name of RATE_HEADERS) {
        const form = name.startsWith("x-") ? /^\d+$/ : /^"address";(q=\d+;w=60|r=\d+;t=\d+)$/;
        expect([path, headers.get(name)]).toEqual([path, expect.stringMatching(form)]);
      }
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("server")).toBeNull();
    }
  });

  test("probes and page assets are not rate limited", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 1 } });
    const files = ["/swagger/assets/start.js", "/dashboard/assets/style.css"];
    for (const path of ["/health/live", "/health/ready", ...files]) {
      for (let times = 0; times < 3; times += 1) {
        const { status, headers } = await api.request(path);
        expect([path, status, headers.get("x-ratelimit-limit")]).toEqual([path, 200, null]);
      }
    }
  });

  test("paths outside of the API are limited by address, separately from the API", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 1 } });
    const pages = [
      ["/metrics", 200],
      ["/swagger", 200],
      ["/swagger/json", 200],
      ["/dashboard/exports", 303],
      ["/dashboard/sign-in", 200],
      ["/models", 200],
      ["/nowhere", 404],
    ] as const;
    for (const [index, [path, status]] of pages.entries()) {
      const address = `192.0.2.${index}`;
      const statuses = [];
      for (let times = 0; times < 2; times += 1) statuses.push((await api.request(path, { address })).status);
      expect([path, statuses]).toEqual([path, [status, 429]]);
      expect((await api.request("/api/v1/models", { address })).status).toBe(200);
    }
  });

  test("responses to authenticated requests are not cached unless the route allows it", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    const plain = await api.request("/api/v1/echo/a", { key });
    expect(plain.headers.get("cache-control")).toBe("no-store");
    const own = await api.request("/api/v1/noted", { key });
    expect(own.headers.get("cache-control")).toBe("private, max-age=60");
    const anonymous = await api.request("/api/v1/echo/a");
    expect(anonymous.headers.get("cache-control")).toBeNull();
  });

  test("during shutdown, responses close the connection", async () => {
    await using api = await openTestApp();
    expect((await api.request("/health/live")).headers.get("connection")).toBeNull();
    api.leave();
    expect((await api.request("/health/live")).headers.get("connection")).toBe("close");
  });
});

test("a stream is passed through unchanged", async () => {
  await using api = await openTestApp({ routes: probeRoutes() });
  const response = await api.request("/api/v1/stream/whole");
  expect(await response.text()).toBe("123456789\n".repeat(10));
});
