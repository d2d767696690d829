import { describe, expect, test } from "bun:test";
import { openPool } from "../../../sql/connection/pool.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { failingRoutes, probeRoutes } from "../../helpers/http/probe_routes.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

/** Opens an app with failing routes. No server listens on the port of the unreachable database. */
async function openFailingApp(): Promise<TestApp> {
  const away = openPool("postgres://postgres@127.0.0.1:1/none", { applicationName: "test", max: 1 });
  return openTestApp({ routes: failingRoutes({ databaseAway: () => away`select 1` }) });
}

describe("an internal error", () => {
  test("returns 500 and reveals only the request ID under which it is logged", async () => {
    await using api = await openFailingApp();
    for (const path of ["/api/v1/bug", "/api/v1/thrown-text", "/api/v1/bigint"]) {
      const response = await api.request(path, {
        headers: { "x-request-id": `id-of${path}`.replaceAll("/", "-") },
      });
      const requestId = response.headers.get("x-request-id");
      expect([path, response.status]).toEqual([path, 500]);
      expect(await response.json()).toEqual({
        error: {
          code: "INTERNAL_SERVER_ERROR",
          message: "Internal error. If this keeps happening, contact support with the request ID.",
          requestId,
        },
      });
      const lines = api.logLines.filter((line) => line["requestId"] === requestId);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        level: "error",
        status: 500,
        route: path,
        code: "INTERNAL_SERVER_ERROR",
      });
    }
  });

  test("is logged with its stack", async () => {
    await using api = await openFailingApp();
    await api.request("/api/v1/bug");
    const [line] = api.logLines;
    expect(line?.["err"]).toMatchObject({
      message: expect.stringContaining("broke /srv"),
      stack: expect.stringContaining("probe_routes.ts"),
    });
  });

  test("before the first byte of a stream returns an ordinary 500", async () => {
    await using api = await openFailingApp();
    expect((await api.request("/api/v1/announced")).status).toBe(500);
    expect(api.logLines).toMatchObject([{ status: 500, err: { message: "broke before the first byte" } }]);
  });
});

describe("an unavailable database", () => {
  test("returns 503 with Retry-After", async () => {
    await using api = await openFailingApp();
    const response = await api.request("/api/v1/database-away");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
  });

  test("returns 503 even if it does not exist", async () => {
    await using db = await openTestDatabase();
    const missing = new URL(db.url);
    missing.pathname = "/missing";
    const refused = openPool(missing.href, { applicationName: "test", max: 1 });
    await using api = await openTestApp({ routes: failingRoutes({ databaseAway: () => refused`select 1` }) });
    const response = await api.request("/api/v1/database-away");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("has the same response as a deadlock", async () => {
    await using db = await openTestDatabase();
    const deadlock = () => db.sql`do $$ begin raise sqlstate '40P01'; end $$`;
    await using api = await openTestApp({ routes: failingRoutes({ databaseAway: deadlock }) });
    const response = await api.request("/api/v1/database-away");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("does not make a credential count as invalid", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 3 },
    });
    const { key } = await api.make.person();
    await api.deps.sql.end();
    for (let times = 0; times < 5; times += 1) {
      const response = await api.request("/api/v1/echo/a", { key });
      expect([response.status, response.headers.get("x-ratelimit-remaining")]).toEqual([503, "3"]);
    }
  });
});

describe("input that does not fit its schema", () => {
  async function problemsOf(response: Response): Promise<unknown> {
    const { error } = (await response.json()) as { error: { code: string; details: { errors: unknown } } };
    expect([response.status, error.code]).toEqual([400, "VALIDATION_ERROR"]);
    return error.details.errors;
  }

  test("is reported by parameter name for the query", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/things?format=xml&limit=ten&bogus=1");
    expect(await problemsOf(response)).toEqual(
      expect.arrayContaining([
        { path: "format", message: "must be one of ndjson, csv" },
        { path: "limit", message: "must be a whole number from 1 to 100" },
        { path: "bogus", message: expect.stringMatching(/^is not a parameter of this endpoint; /) },
      ]),
    );
  });

  test("is reported by full path for the body, with one problem per path", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    const body = { size: -1.5, kind: "cube", tags: [{ label: "a" }, { label: 7 }] };
    expect(await problemsOf(await api.request("/api/v1/things", { key, method: "POST", body }))).toEqual([
      { path: "name", message: "is required" },
      { path: "size", message: "must be a whole number" },
      { path: "kind", message: "must be one of round, flat" },
      { path: "tags.1.label", message: "must be a string" },
    ]);
  });

  test("is summarized in the message by the first problem", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/things?bogus=1");
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/^Check the request: bogus is not a parameter of this endpoint; /),
      },
    });
  });

  test("returns 400 if the body is empty or a JSON value other than an object", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    for (const body of ["null", "[]", "7", '"text"', ""]) {
      const headers = { "content-type": "application/json" };
      const response = await api.request("/api/v1/things", { key, method: "POST", headers, body });
      expect([body, response.status]).toEqual([body, 400]);
    }
  });
});
