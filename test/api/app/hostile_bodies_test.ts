/** Every route with a body refuses bodies made to exhaust the process, before any costly work. */
import { afterAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { Route } from "../../../api/http/route.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { deepBodies, WIDE_BODIES, wrongBodies } from "../../helpers/http/hostile_json.ts";
import { listOperations, readDocument } from "../../helpers/http/openapi.ts";

const JSON_TYPE = { "content-type": "application/json" };
const AUTH_MAX_BYTES = 4096;
const PASSKEY_MAX_BYTES = 32_768;
/** The paths below /auth that accept a passkey response. They allow larger bodies. */
const PASSKEY_PATHS = ["factors/passkeys", "factors/verify", "login/second-factor"];
/** The maximum length of the JSON that a refusal writes as its response or log line. */
const REFUSAL_MAX_CHARS = 32_768;
/** The maximum length of a text that `JSON.parse` reads during a refusal. The test app parses the log line. */
const PARSED_MAX_CHARS = 2_000;

const stringify = spyOn(JSON, "stringify");
const parse = spyOn(JSON, "parse");
beforeEach(clearSpies);
afterAll(() => {
  stringify.mockRestore();
  parse.mockRestore();
});

function clearSpies(): void {
  stringify.mockClear();
  parse.mockClear();
}

interface Sent {
  status: number;
  text: string;
  /** The length of the longest text that `JSON.stringify` returned during the request. */
  written: number;
  /** The length of the longest text that `JSON.parse` read during the request. */
  parsed: number;
}

async function openWithSessions() {
  const api = await openTestApp({
    config: { rateLimitUserPerMinute: 100_000, rateLimitAnonymousPerMinute: 100_000 },
  });
  const { user } = await api.make.person();
  const writes = api.app.routes.filter(
    ({ method, pattern }) => method !== "GET" && pattern.startsWith("/api/v1/"),
  );
  const document = await readDocument(api);
  const described = new Map(
    listOperations(document).map(({ method, path, operation }) => [
      `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      operation.requestBody?.content["application/json"]?.schema as { $ref?: string } | undefined,
    ]),
  );
  return {
    api,
    writes,
    /** Returns the field names of a route's body schema. */
    membersOf({ method, pattern }: Route): string[] {
      const name = described.get(`${method} ${pattern}`)?.$ref?.split("/").at(-1) ?? "";
      return Object.keys(document.components.schemas[name]?.["properties"] ?? {});
    },
    /** Sends a body to a route. Each request has a new session, because one of the routes ends its session. */
    async send(route: Route, body?: string): Promise<Sent> {
      const { token } = await api.make.session({ userId: user.id });
      clearSpies();
      const response = await post(api, route, { key: token, body });
      const text = await response.text();
      return {
        status: response.status,
        text,
        written: Math.max(...stringify.mock.results.map(({ value }) => String(value).length)),
        parsed: Math.max(...parse.mock.calls.map(([given]) => String(given).length)),
      };
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** Sends a request without `api.request`, which calls the spied functions to check responses. */
async function post(
  api: TestApp,
  { method, pattern }: Route,
  { key, body }: { key: string; body: string | undefined },
): Promise<Response> {
  const url = `http://localhost${pattern.replaceAll(/:\w+|\*/g, "x")}`;
  const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
  return api.app.handle(new Request(url, { method, headers, body: body ?? null }), "192.0.2.1");
}

/** Returns the expected status: 413 if the size limit of /auth applies first, else 400. */
function refusal(route: Route, body: string): number {
  const [, path] = route.pattern.split("/api/v1/auth/");
  if (path === undefined) return 400;
  return body.length > (PASSKEY_PATHS.includes(path) ? PASSKEY_MAX_BYTES : AUTH_MAX_BYTES) ? 413 : 400;
}

describe("every route that takes a body", () => {
  test("refuses a body that is nested too deeply or has too many members, without parsing it", async () => {
    await using open = await openWithSessions();
    expect(open.writes.length).toBeGreaterThan(15);
    for (const route of open.writes) {
      for (const body of [...deepBodies(open.membersOf(route)), ...WIDE_BODIES]) {
        const { status, written, parsed } = await open.send(route, body);
        expect([route.pattern, body.slice(0, 40), status]).toEqual([
          ...[route.pattern, body.slice(0, 40), refusal(route, body)],
        ]);
        expect(written).toBeLessThan(REFUSAL_MAX_CHARS);
        expect(parsed).toBeLessThan(PARSED_MAX_CHARS);
      }
    }
  });

  test("refuses a body that is not an object", async () => {
    await using open = await openWithSessions();
    const key = JSON.stringify(JSON.stringify({ scope: "read", expiresAt: "2099-12-01T00:00:00Z" }));
    for (const route of open.writes) {
      for (const body of ["[]", "[{}]", "null", "true", "false", "0", "-0", "1e400", '"x"', key]) {
        const { status, text } = await open.send(route, body);
        expect([route.pattern, body, status, text]).toEqual([
          ...[route.pattern, body, 400, expect.stringContaining("the body must be a JSON object")],
        ]);
      }
    }
    const [made] = await open.api.db.sql`select count(*)::int from audit_log where action = 'key.create'`;
    expect(made).toEqual({ count: 0 });
  });

  test("limits the response and the log line for a body with thousands of errors", async () => {
    await using open = await openWithSessions();
    for (const route of open.writes) {
      for (const body of wrongBodies(open.membersOf(route))) {
        const { status, text, written } = await open.send(route, body);
        expect([route.pattern, status < 500]).toEqual([route.pattern, true]);
        expect(written).toBeLessThan(REFUSAL_MAX_CHARS);
        const { error } = JSON.parse(text || "{}") as { error?: { details?: { errors?: unknown[] } } };
        expect(error?.details?.errors?.length ?? 0).toBeLessThanOrEqual(50);
      }
    }
  });

  test("returns the same status for no body, an empty body and {}", async () => {
    await using open = await openWithSessions();
    for (const route of open.writes) {
      const responses = [];
      for (const body of [undefined, "", "{}"]) responses.push((await open.send(route, body)).status);
      expect([route.pattern, new Set(responses).size]).toEqual([route.pattern, 1]);
    }
  });
});

test.each([
  ["login", AUTH_MAX_BYTES],
  ["password/reset", AUTH_MAX_BYTES],
  ...PASSKEY_PATHS.map((path): [string, number] => [path, PASSKEY_MAX_BYTES]),
])("a body for /auth/%s may have at most %i bytes", async (path, maxSize) => {
  await using api = await openTestApp();
  const { user } = await api.make.person();
  const { token: key } = await api.make.session({ userId: user.id });
  const send = async (size: number) => {
    const empty = JSON.stringify({ password: "x", "": "" });
    const body = `${empty.slice(0, -2)}${"p".repeat(size - empty.length)}"}`;
    return api.request(`/api/v1/auth/${path}`, { method: "POST", headers: JSON_TYPE, body, key });
  };
  expect((await send(maxSize)).status).toBe(400);
  const refused = await send(maxSize + 1);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE", details: { maxSize } } });
});
