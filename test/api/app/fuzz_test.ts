/** Random requests to every route cause no server errors and leak no internal details. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import type { Route } from "../../../api/http/route.ts";
import { ERRORS } from "../../../shared/errors.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp, type TestRequest } from "../../helpers/http/app.ts";

const REQUESTS = 1000;
/** A fixed seed, so that every run sends the same requests. */
const SEED = 20_261_122;
const ROOT = join(import.meta.dir, "../../..");

/** Percent-encoded path segments: NUL, invalid UTF-8, a lone surrogate, malformed escapes, a path traversal, SQL, an id. */
const SEGMENTS = [
  ...[
    "x",
    "demo",
    "%00",
    "a%00b",
    "%ff",
    "%ED%A0%80",
    "%2",
    "%",
    "..%2f..%2fetc%2fpasswd",
    "%252e",
    "@",
    "a@1.0.0",
  ],
  ...["'%20or%201=1--", "%22%7D", "%F0%9F%A6%8A", "a".repeat(4000), "-1", "null", "__proto__", "constructor"],
  ...[
    "00000000-0000-0000-0000-000000000000",
    "issues",
    "bundle",
    "jobs",
    "%0d%0aX-Injected:%20yes",
    "..",
    "*",
  ],
];
const QUERIES = [
  ...[
    "",
    "",
    "?",
    "?format=csv",
    "?format=",
    "?format=csv&format=ndjson",
    "?as_of=now",
    "?as_of=2026-01-01T00:00:00Z",
  ],
  ...[
    "?limit=-1",
    "?limit=1e9",
    "?limit=99999999999999999999",
    "?offset=NaN",
    "?%00=1",
    "?a=%00",
    "?a=%ED%A0%80",
  ],
  ...["?a=%", "?__proto__[x]=1", "?status='", "?issue_id=x", "?search=%25%5F", "?include_deleted=maybe"],
  ...[
    `?search=${"b".repeat(5000)}`,
    `?${"a=1&".repeat(500)}`,
    "?sortBy=constructor",
    "?capability=__proto__",
  ],
];
const BODIES = [
  ...[undefined, "", "{", "[]", "null", "0", '""', "{}", "\u0000", '{"a":', "a=1&b=2", "<a/>", '{"ids":[]}'],
  ...[
    '{"__proto__":{"x":1}}',
    '{"email":"a\\u0000b","password":"x"}',
    '{"email":"\\ud800","password":"\\udfff"}',
  ],
  ...[
    '{"email":{"$ne":1},"password":[]}',
    '{"ids":["\\u0000"]}',
    '{"ids":["\\ud800"]}',
    '{"ids":null}',
    '{"ids":[1]}',
    '{"yaml":"x: 1"}',
    '{"yaml":""}',
    '{"yaml":"\\u0000"}',
    '{"name":"\\u0000"}',
  ],
  ...[
    '{"yaml":"- x"}',
    '{"yaml":"a: &a [*a]"}',
    '{"yaml":"a: !!js/function x"}',
    '{"yaml":"<<: {__proto__: 1}"}',
    '{"yaml":"agent: {name: 1e999}"}',
    `{"yaml":"${"[".repeat(1000)}"}`,
    '{"definitions":[{"yaml":"x: 1"}]}',
  ],
  ...[
    '{"name":"\\ud83e","scope":"read"}',
    '{"format":"zip"}',
    '{"as_of":"\\u0000"}',
    '{"include_deleted":"true"}',
  ],
  ...[
    `{"ids":[${'"x",'.repeat(200)}"x"]}`,
    `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
    '{"expiresAt":"\\ud800"}',
  ],
  ...[
    '{"expiresAt":"9999-99-99T99:99:99Z"}',
    `{"name":"${"n".repeat(100_000)}"}`,
    `"${" ".repeat(1_100_000)}"`,
  ],
];
const TYPES = [
  ...[
    "application/json",
    "application/json",
    "application/json;charset=utf-16",
    "text/plain",
    "",
    ";;",
    "a/b;c",
  ],
  ...["application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "APPLICATION/JSON"],
];
const HEADERS: Readonly<Record<string, string>>[] = [
  ...[{}, {}, { "x-org-slug": "" }, { "x-org-slug": "demo" }, { "x-org-slug": "'; drop table users" }],
  ...[
    { "x-org-slug": "a".repeat(5000) },
    { "x-org-slug": "\u00ff\u00fe" },
    { range: "bytes=9-1" },
    { range: "\u00e9" },
  ],
  ...[{ "if-none-match": '"' }, { "if-none-match": "*" }, { "accept-encoding": "gzip;q=x, zstd;q=-1" }],
  ...[
    { "x-request-id": "\u00ff" },
    { cookie: "ulr_session" },
    { cookie: "ulr_session=uls_x; ulr_session=%00" },
    { host: "%%%" },
  ],
  ...[
    { origin: "null", cookie: "ulr_session=x" },
    { "content-encoding": "gzip" },
    { "content-length": "-1" },
  ],
  ...[
    { "transfer-encoding": "chunked" },
    { expect: "100-continue" },
    { accept: "\u00ff" },
    { "x-forwarded-for": "\u00ff" },
  ],
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

const WISH = fc.record({
  // Null means the route's own method. Null has a higher weight, because other methods usually get 405.
  method: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
  ),
  segments: fc.array(fc.constantFrom(...SEGMENTS), { minLength: 4, maxLength: 4 }),
  isKnown: fc.boolean(),
  query: fc.constantFrom(...QUERIES),
  body: fc.constantFrom(...BODIES),
  type: fc.constantFrom(...TYPES),
  headers: fc.constantFrom(...HEADERS),
  credential: fc.nat(),
  /** Whether the key and the headers are valid and the query is empty. Without such requests, few bodies would be read. */
  isCareful: fc.boolean(),
});
type Wish = typeof WISH extends fc.Arbitrary<infer Value> ? Value : never;

interface Scene {
  routes: readonly Route[];
  /** An API key with all permissions of its user. */
  key: string;
  credentials: readonly (string | undefined)[];
  /** Existing values of path parameters, by parameter name. */
  ids: Readonly<Record<string, string>>;
}

async function makeScene(api: TestApp): Promise<Scene> {
  const { person, project } = await makeExportProject(api);
  const userId = person.user.id;
  const writes = api.app.routes.filter(({ method }) => method !== "GET");
  const keyOf = async (options: object) => (await api.make.key({ userId, ...options })).key;
  const session = async () => (await api.make.session({ userId })).token;
  return {
    // Each write is listed five times, because there are few writes and they have the most checks.
    routes: [...api.app.routes, ...Array.from({ length: 4 }, () => writes).flat()],
    key: person.key,
    ids: {
      ...{ ":project": project.id, ":dataset": "issues", ":slug": person.org.slug, ":id": userId },
      ...{ ":type": "agent", ":name": "x" },
    },
    credentials: [
      ...[undefined, person.key, await session(), await session(), await keyOf({ scope: "read" })],
      ...[await keyOf({ kind: "automation" }), await keyOf({ orgId: person.org.id })],
      ...[await keyOf({ revokedAt: new Date().toISOString() }), `ulr_${"A".repeat(43)}`, "x", "'", "\u00ff"],
    ],
  };
}

function pick<Value>(list: readonly Value[], number: number): Value {
  return list[number % list.length] as Value;
}

function toRequest(
  wish: Wish,
  turn: number,
  { routes, key, credentials, ids }: Scene,
): [string, TestRequest] {
  // Requests cycle through the routes, so that each route gets several requests.
  const route = pick(routes, turn);
  const method = wish.method ?? route.method;
  let next = 0;
  const path = route.pattern.replaceAll(/:\w+|\*/g, (name) => {
    next += 1;
    return (wish.isKnown && ids[name]) || pick(wish.segments, next);
  });
  const takesBody = !["GET", "HEAD"].includes(method) && wish.body !== undefined;
  const body = takesBody ? { body: wish.body } : {};
  if (wish.isCareful)
    return [path, { method, key, headers: { "content-type": "application/json" }, ...body }];
  const credential = pick(credentials, wish.credential);
  return [
    `${path}${wish.query}`,
    {
      method,
      ...(credential === undefined ? {} : { key: credential }),
      headers: { "content-type": wish.type, ...wish.headers },
      ...body,
    },
  ];
}

/** Internal details that no response may contain: stack traces, SQL, database messages and file paths. */
const LEAKS = [
  ...[/\bat \S+ \(/, /node_modules/, /\.ts:\d/, /\bselect\b.*\bfrom\b/i, /\binsert into\b/i, /PostgresError/],
  ...[
    /postgres(ql)?:\/\//,
    /violates/,
    /invalid byte sequence/,
    /syntax error/,
    /relation "/,
    /TypeError/,
    /\$argon2/,
  ],
];

function findLeak(text: string): string | null {
  if (text.includes(ROOT)) return ROOT;
  return LEAKS.map((leak) => leak.exec(text)?.[0]).find(Boolean) ?? null;
}

async function judge(response: Response): Promise<string | null> {
  const { status, headers } = response;
  if (headers.get("x-content-type-options") !== "nosniff") return "it lacks X-Content-Type-Options";
  if (headers.has("x-injected")) return "a header was injected";
  if (status < 400) {
    await response.body?.cancel();
    return null;
  }
  if (status >= 500 && status !== 503 && status !== 504) return "it failed";
  const text = await response.text();
  const leak = findLeak(text + JSON.stringify([...headers]));
  if (leak) return `it says "${leak}"`;
  // A response to HEAD has no body. An HTML page shows the error in its form or its URL.
  if (text === "" || headers.get("content-type")?.startsWith("text/html")) return null;
  const { error } = JSON.parse(text) as { error: { code: string; message: string; requestId: string } };
  const isKnown = error.code in ERRORS && ERRORS[error.code as keyof typeof ERRORS].status === status;
  return isKnown && error.message && error.requestId === headers.get("x-request-id")
    ? null
    : `the envelope is ${text.slice(0, 200)}`;
}

test(`${REQUESTS} random requests over all routes get valid responses that leak no internal details`, async () => {
  await using api = await openTestApp({
    config: {
      rateLimitAnonymousPerMinute: 100_000,
      rateLimitUserPerMinute: 100_000,
      rateLimitLoginPerMinute: 1000,
    },
  });
  const scene = await makeScene(api);
  const statuses = new Set<number>();
  const reached = new Set<unknown>();
  for (const [turn, wish] of fc.sample(WISH, { numRuns: REQUESTS, seed: SEED }).entries()) {
    const [path, options] = toRequest(wish, turn, scene);
    const response = await api.request(path, options);
    expect([options.method, path, options, response.status, await judge(response)]).toEqual([
      ...[options.method, path, options, response.status],
      null,
    ]);
    statuses.add(response.status);
  }
  for (const { route } of api.logLines) reached.add(route);
  // The requests cause every common error status and some successes, and reach more than 80% of the routes.
  for (const status of [200, 400, 401, 403, 404, 405, 413, 415, 422]) expect(statuses).toContain(status);
  const patterns = new Set(api.app.routes.map(({ pattern }) => pattern));
  expect(reached.size).toBeGreaterThan(patterns.size * 0.8);
  const log = JSON.stringify(api.logLines);
  for (const secret of scene.credentials) {
    if (secret && secret.length > 20) expect(log).not.toContain(secret);
  }
  expect(api.logLines.filter(({ err }) => err !== undefined)).toEqual([]);
  expect(log).not.toContain(ROOT);
});
