import { expect, test } from "bun:test";
import { deleteOldRecords } from "../../../../jobs/delete_old_records.ts";
import { makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { Clock, withTotp } from "../../../helpers/accounts/factors.ts";
import { agentYaml, publishAgent } from "../../../helpers/definitions/definitions.ts";
import { makePlatformAdmin } from "../../../helpers/definitions/executions.ts";
import { openTestApp, type TestApp, type TestRequest } from "../../../helpers/http/app.ts";
import { listWaiting } from "../../../helpers/postgres/waiting_sessions.ts";
import { type ApiProcess, startApi } from "../../../helpers/process/api_process.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const DEFINITION = "/api/v1/definitions/agent/reviewer";
const BODY = { yaml: agentYaml("reviewer") };

interface Outcome {
  status: number;
  requestId: string | null;
  isReplayed: boolean;
  code: string | undefined;
  body: { error?: { code: string; requestId?: string; details?: unknown } };
}

/** Sends a POST with an idempotency key. */
async function post(
  api: Pick<TestApp, "request">,
  path: string,
  options: TestRequest & { idempotencyKey?: string } = {},
): Promise<Outcome> {
  const { idempotencyKey = "retry-1", headers, ...rest } = options;
  const response = await api.request(path, {
    method: "POST",
    ...rest,
    headers: { ...headers, "idempotency-key": idempotencyKey },
  });
  const body = (await response.json()) as Outcome["body"];
  const isReplayed = response.headers.get("idempotency-replayed") === "true";
  const requestId = response.headers.get("x-request-id");
  return { status: response.status, requestId, isReplayed, code: body.error?.code, body };
}

async function countDefinitions(app: TestApp): Promise<number> {
  const [row] = await app.db.sql<[{ count: number }]>`select count(*)::int as count from definitions`;
  return row.count;
}

test("a repeated request gets the same response, and nothing is written twice", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  const first = await post(app, DEFINITION, { key, body: BODY });
  expect(first).toMatchObject({ status: 201, isReplayed: false });
  const again = await post(app, DEFINITION, { key, body: BODY });
  expect(again).toEqual({ ...first, requestId: expect.any(String), isReplayed: true });
  expect(await countDefinitions(app)).toBe(1);
  const audited = await app.db.sql`select from audit_log where action = 'definition.create'`;
  expect(audited).toHaveLength(1);
});

test("an error is replayed with the id of the repeated request in its header and body", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  const first = await post(app, DEFINITION, { key, body: { yaml: "agent: 1" } });
  expect(first).toMatchObject({ status: 422, isReplayed: false });
  const again = await post(app, DEFINITION, { key, body: { yaml: "agent: 1" } });
  const { requestId } = again;
  expect(requestId).not.toBe(first.requestId);
  expect(again).toEqual({
    ...first,
    requestId,
    isReplayed: true,
    body: { error: { ...first.body.error, requestId } } as Outcome["body"],
  });
  const headers = { "x-request-id": "own-id" };
  expect(await post(app, DEFINITION, { key, headers, body: { yaml: "agent: 1" } })).toMatchObject({
    requestId: "own-id",
    isReplayed: true,
    body: { error: { requestId: "own-id" } },
  });
  const invalid = await post(app, DEFINITION, { key, body: { yaml: 1 }, idempotencyKey: "retry-2" });
  expect(invalid).toMatchObject({ status: 400, isReplayed: false });
  expect(await post(app, DEFINITION, { key, body: { yaml: 1 }, idempotencyKey: "retry-2" })).toMatchObject({
    status: 400,
    isReplayed: true,
  });
});

test("reusing a key with another path, query, organization or body is rejected", async () => {
  await using app = await openTestApp();
  const { key, org } = await app.make.person();
  await post(app, DEFINITION, { key, body: BODY });
  const reused = { status: 422, code: "IDEMPOTENCY_KEY_REUSED" };
  const other = { yaml: agentYaml("reviewer", "2.0.0") };
  expect(await post(app, DEFINITION, { key, body: other })).toMatchObject(reused);
  expect(await post(app, `${DEFINITION}2`, { key, body: BODY })).toMatchObject(reused);
  expect(await post(app, `${DEFINITION}?x=1`, { key, body: BODY })).toMatchObject(reused);
  const headers = { "x-org-slug": org.slug };
  expect(await post(app, DEFINITION, { key, headers, body: BODY })).toMatchObject(reused);
  expect(await countDefinitions(app)).toBe(1);
});

test("keys of two users are independent, and keys of one user's credentials are shared", async () => {
  await using app = await openTestApp();
  const first = await app.make.person();
  const second = await app.make.person();
  const secondKey = await app.make.key({ userId: first.user.id });
  expect(await post(app, DEFINITION, { key: first.key, body: BODY })).toMatchObject({ status: 201 });
  expect(await post(app, DEFINITION, { key: second.key, body: BODY })).toMatchObject({
    status: 201,
    isReplayed: false,
  });
  expect(await post(app, DEFINITION, { key: secondKey.key, body: BODY })).toMatchObject({ isReplayed: true });
});

test("a stored response is replayed only to members with the role that the request requires", async () => {
  await using app = await openTestApp();
  const { key, user } = await app.make.person();
  const org = await app.make.org();
  const headers = { "x-org-slug": org.slug };
  await app.make.member({ orgId: org.id, userId: user.id, role: "publisher" });
  expect(await post(app, DEFINITION, { key, headers, body: BODY })).toMatchObject({ status: 201 });
  await app.db.sql`update organization_members set role = 'viewer' where org_id = ${org.id}`;
  expect(await post(app, DEFINITION, { key, headers, body: BODY })).toMatchObject({
    status: 403,
    code: "INSUFFICIENT_ORG_ROLE",
    body: { error: { details: { currentRole: "viewer", requiredRole: "publisher" } } },
  });
  await app.db.sql`update organization_members set role = 'owner' where org_id = ${org.id}`;
  expect(await post(app, DEFINITION, { key, headers, body: BODY })).toMatchObject({ isReplayed: true });
  await app.db.sql`delete from organization_members where org_id = ${org.id}`;
  expect(await post(app, DEFINITION, { key, headers, body: BODY })).toMatchObject({
    status: 403,
    code: "ORG_ACCESS_DENIED",
    isReplayed: false,
  });
});

test("a credential with other permissions does not get the stored response", async () => {
  await using app = await openTestApp();
  const { key, user, org } = await app.make.person();
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ status: 201 });
  const bound = await app.make.key({ userId: user.id, orgId: org.id });
  const automation = await app.make.key({ userId: user.id, kind: "automation" });
  for (const other of [bound, automation]) {
    expect(await post(app, DEFINITION, { key: other.key, body: BODY })).toMatchObject({
      status: 422,
      code: "IDEMPOTENCY_KEY_REUSED",
    });
  }
});

test("of many concurrent requests with the same key, only one is carried out", async () => {
  await using app = await openTestApp();
  const admin = await makePlatformAdmin(app);
  const person = await app.make.person();
  await publishAgent(app, person, { name: "reviewer", visibility: "public" });
  const path = `${DEFINITION}/executions`;
  const send = () => post(app, path, { key: admin.key, body: { source: "cli" } });
  const outcomes = await Promise.all(Array.from({ length: 20 }, send));
  const carriedOut = outcomes.filter(({ status, isReplayed }) => status < 300 && !isReplayed);
  expect(carriedOut).toHaveLength(1);
  for (const { status, isReplayed, code } of outcomes) {
    if (status < 300) continue;
    expect({ isReplayed, code }).toEqual({ isReplayed: false, code: "IDEMPOTENCY_IN_PROGRESS" });
  }
  expect(await send()).toMatchObject({ isReplayed: true });
  expect(await app.db.sql`select from definition_executions`).toHaveLength(1);
});

test("a response with a secret is not stored, and a repeated request gets the id of the created object", async () => {
  await using app = await openTestApp();
  const account = await makeAccount(app);
  const { sessionToken } = await signIn(app, account);
  const created = await post(app, "/api/v1/auth/keys", { key: sessionToken, body: { name: "ci" } });
  expect(created).toMatchObject({ status: 201, isReplayed: false });
  const [apiKey] = await app.db.sql<{ id: string }[]>`select id from api_keys where name = 'ci'`;
  expect(await post(app, "/api/v1/auth/keys", { key: sessionToken, body: { name: "ci" } })).toMatchObject({
    status: 409,
    code: "IDEMPOTENCY_KEY_USED",
    body: { error: { details: { type: "api_key", id: apiKey?.id } } },
  });

  const { email, password } = account;
  const wrong = { body: { email, password: "not the password" }, idempotencyKey: "sign-in" };
  expect(await post(app, "/api/v1/auth/login", wrong)).toMatchObject({ status: 401 });
  const right = { body: { email, password }, idempotencyKey: "sign-in" };
  expect(await post(app, "/api/v1/auth/login", right)).toMatchObject({ status: 200 });
  expect(await post(app, "/api/v1/auth/login", right)).toMatchObject({
    status: 409,
    code: "IDEMPOTENCY_KEY_USED",
  });
  const kept = await app.db.sql<{ text: string }[]>`select k::text as text from idempotency_keys as k`;
  expect(kept.map(({ text }) => text).join("\n")).not.toMatch(/ul[rs]_/);
});

test("no stored data depends on a password", async () => {
  await using app = await openTestApp();
  const account = await makeAccount(app);
  const { sessionToken } = await signIn(app, account);
  const readKept = () =>
    app.db.sql`select key, fingerprint, status, headers, body from idempotency_keys order by key`;
  const { email, password } = account;
  const signInWith = (given: string) =>
    post(app, "/api/v1/auth/login", { body: { email, password: given }, idempotencyKey: "sign-in" });
  expect(await signInWith(password)).toMatchObject({ status: 200 });
  expect(await signInWith("another password")).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_USED" });
  const change = (newPassword: string) =>
    app.request("/api/v1/auth/password", {
      method: "POST",
      key: sessionToken,
      body: { currentPassword: password, newPassword },
      headers: { "idempotency-key": "change" },
    });
  expect((await change("seven quiet lamps at noon")).status).toBe(204);
  const kept = await readKept();
  expect(kept.map(({ key, status }) => [key, status])).toEqual([
    ["change", null],
    ["sign-in", null],
  ]);
  // A replayed 204 would wrongly confirm the second new password.
  expect((await change("eight quiet lamps at noon")).status).toBe(409);
  expect(await readKept()).toEqual(kept);
});

test("an error for a refused password is not stored, so a retry with another password is carried out", async () => {
  await using app = await openTestApp();
  const account = await makeAccount(app);
  const { sessionToken } = await signIn(app, account);
  const send = async (path: string, body: unknown) => {
    const { status, headers } = await app.request(path, {
      method: "POST",
      key: sessionToken,
      body,
      headers: { "idempotency-key": path },
    });
    return [status, headers.get("idempotency-replayed")];
  };
  const change = (newPassword: string) =>
    send("/api/v1/auth/password", { currentPassword: account.password, newPassword });
  expect(await change("short")).toEqual([400, null]);
  expect(await change(`${account.email} at noon`)).toEqual([400, null]);
  expect(await change("seven quiet lamps at noon")).toEqual([204, null]);
  const setEmail = (password: string) =>
    send("/api/v1/auth/email", { email: "quiet@lamps.example", password });
  expect(await setEmail("")).toEqual([400, null]);
  expect(await setEmail("seven quiet lamps at noon")).toEqual([202, null]);
});

test("429 and 500 responses are not stored", async () => {
  await using app = await openTestApp({ config: { exportJobsPerHour: 1 } });
  const { key, org } = await app.make.person();
  const path = "/api/v1/export/jobs";
  const headers = { "x-org-slug": org.slug };
  const job = await post(app, path, { key, headers, idempotencyKey: "first" });
  expect(job.status).toBe(201);
  await app.db
    .sql`update export_jobs set status = 'failed', error_code = 'BUILD_FAILED', error_message = 'x', finished_at = now()`;
  expect(await post(app, path, { key, headers })).toMatchObject({ status: 429, isReplayed: false });
  await app.db.sql`update export_jobs set created_at = now() - interval '2 hours'`;
  expect(await post(app, path, { key, headers })).toMatchObject({ status: 201, isReplayed: false });

  await app.db.owner`alter table definitions rename to gone`;
  expect(await post(app, DEFINITION, { key, body: BODY, idempotencyKey: "second" })).toMatchObject({
    status: 500,
  });
  await app.db.owner`alter table gone rename to definitions`;
  await waitFor(async () => {
    const { status } = await post(app, DEFINITION, { key, body: BODY, idempotencyKey: "second" });
    return status === 201;
  });
});

test("an error that asks for a second factor is not stored, so a retry works once the factor was used", async () => {
  const clock = new Clock();
  await using app = await openTestApp({ now: clock.now });
  const { key } = await withTotp(app, clock, await makeAccount(app));
  await app.db.sql`update sessions set factor_at = now() - interval '15 minutes'`;
  const refused = await post(app, "/api/v1/auth/keys", { key, body: {} });
  expect(refused).toMatchObject({ status: 403, code: "SECOND_FACTOR_REQUIRED" });
  await app.db.sql`update sessions set factor_at = now()`;
  expect(await post(app, "/api/v1/auth/keys", { key, body: {} })).toMatchObject({
    status: 201,
    isReplayed: false,
  });
});

test("a key is valid for 24 hours and then deleted", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  const count = async () => (await app.db.sql`select from idempotency_keys`).length;
  await post(app, DEFINITION, { key, body: BODY });
  await app.db.sql`update idempotency_keys set created_at = now() - interval '23 hours'`;
  await deleteOldRecords(app.deps, new AbortController().signal);
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ isReplayed: true });
  await app.db.sql`update idempotency_keys set created_at = now() - interval '25 hours'`;
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ code: "VERSION_EXISTS" });
  await app.db.sql`update idempotency_keys set created_at = now() - interval '25 hours'`;
  await deleteOldRecords(app.deps, new AbortController().signal);
  expect(await count()).toBe(0);
});

test("an invalid key is rejected before anything is written", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  for (const idempotencyKey of ["", "x".repeat(129), "schlüssel"]) {
    expect(await post(app, DEFINITION, { key, body: BODY, idempotencyKey })).toMatchObject({ status: 400 });
  }
  expect(await countDefinitions(app)).toBe(0);
  expect(
    await post(app, DEFINITION, { key, body: BODY, idempotencyKey: `${"~ ".repeat(63)}!!` }),
  ).toMatchObject({ status: 201 });
});

test("a response over a caller's storage limit of 100 MB is not stored, and repeating its request returns 409", async () => {
  await using app = await openTestApp();
  const { key, user } = await app.make.person();
  await app.db.sql`
    insert into idempotency_keys
      (caller, key, fingerprint, request_id, locked_until, status, headers, body)
    select ${user.id}, 'old-' || n, sha256('x'), gen_random_uuid(), now(), 200, '{}', repeat('x', 50000000)
    from generate_series(1, 2) as n`;
  const padding = { description: "word ".repeat(700) };
  const large = {
    yaml: `${agentYaml("reviewer", "1.0.0", padding)}  notes: ${"text ".repeat(6000)}\n`,
  };
  expect(await post(app, DEFINITION, { key, body: large })).toMatchObject({ status: 201 });
  expect(await post(app, DEFINITION, { key, body: large })).toMatchObject({
    status: 409,
    code: "IDEMPOTENCY_KEY_USED",
  });
});

test("responses are stored for 10,000 keys per caller, and a repeated request with a later key returns 409", async () => {
  await using app = await openTestApp();
  const { key, user } = await app.make.person();
  await app.db.sql`
    insert into idempotency_keys (caller, key, fingerprint, request_id, locked_until)
    select ${user.id}, 'old-' || n, sha256('x'), gen_random_uuid(), now()
    from generate_series(1, 9999) as n`;
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ status: 201 });
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ isReplayed: true });
  const next = { key, body: { yaml: agentYaml("reviewer", "2.0.0") }, idempotencyKey: "retry-2" };
  expect(await post(app, DEFINITION, next)).toMatchObject({ status: 201 });
  expect(await post(app, DEFINITION, next)).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_USED" });
  expect(await countDefinitions(app)).toBe(2);
});

test("a request that was presumed dead writes nothing after a retry has taken over", async () => {
  // With eight connections, one caller may run two writes at once.
  await using app = await openTestApp({ config: { databasePoolMax: 8 } });
  const { key } = await app.make.person();
  const held = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = app.db.owner.begin(async (tx) => {
    await tx`lock table definition_lines in share mode`;
    isHeld.resolve();
    await held.promise;
  });
  await isHeld.promise;
  const first = post(app, DEFINITION, { key, body: BODY });
  await waitFor(async () => (await app.db.sql`select from idempotency_keys`).length === 1);
  await app.db.sql`update idempotency_keys set locked_until = now()`;
  const second = post(app, DEFINITION, { key, body: BODY });
  await waitFor(async () => (await listWaiting(app.db.sql)).length >= 2);
  held.resolve();
  await holding;
  expect(await first).toMatchObject({ status: 409, isReplayed: false });
  expect(await second).toMatchObject({ status: 201, isReplayed: false });
  expect(await post(app, DEFINITION, { key, body: BODY })).toMatchObject({ status: 201, isReplayed: true });
  expect(await countDefinitions(app)).toBe(1);
});

async function startApis(app: TestApp): Promise<{ first: ApiProcess; second: ApiProcess } & AsyncDisposable> {
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const [first, second] = await Promise.all([startApi(env), startApi(env)]);
  return {
    first,
    second,
    async [Symbol.asyncDispose]() {
      await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
    },
  };
}

test("if an API process is killed before its write commits, a retry at another process writes", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  await using apis = await startApis(app);
  const held = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = app.db.owner.begin(async (tx) => {
    await tx`lock table definition_lines in share mode`;
    isHeld.resolve();
    await held.promise;
  });
  await isHeld.promise;
  const lost = post(apis.first, DEFINITION, { key, body: BODY }).catch(() => "lost");
  await waitFor(async () => (await listWaiting(app.db.sql)).length > 0);
  apis.first.kill("SIGKILL");
  expect(await lost).toBe("lost");
  expect(await post(apis.second, DEFINITION, { key, body: BODY })).toMatchObject({
    code: "IDEMPOTENCY_IN_PROGRESS",
  });
  held.resolve();
  await holding;
  await app.db.sql`update idempotency_keys set locked_until = now()`;
  expect(await post(apis.second, DEFINITION, { key, body: BODY })).toMatchObject({
    status: 201,
    isReplayed: false,
  });
  expect(await countDefinitions(app)).toBe(1);
});

test("if an API process is killed between its write and its response, a retry learns what was written", async () => {
  await using app = await openTestApp();
  const { key } = await app.make.person();
  await using apis = await startApis(app);
  // Blocks the statement that stores the response after the write. No earlier statement sets `status`.
  await app.db.owner`
    create function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`;
  await app.db.owner`
    create trigger hang before update of status on idempotency_keys
    for each row when (new.status is not null) execute function hang()`;
  const lost = post(apis.first, DEFINITION, { key, body: BODY }).catch(() => "lost");
  await waitFor(async () => (await countDefinitions(app)) === 1);
  await waitFor(
    async () =>
      (
        await app.db
          .sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      ).length > 0,
  );
  apis.first.kill("SIGKILL");
  expect(await lost).toBe("lost");
  await app.db.admin`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`;
  await app.db.owner`drop trigger hang on idempotency_keys`;
  await app.db.sql`update idempotency_keys set locked_until = now()`;
  const [definition] = await app.db.sql<{ id: string }[]>`select id from definitions`;
  expect(await post(apis.second, DEFINITION, { key, body: BODY })).toMatchObject({
    status: 409,
    code: "IDEMPOTENCY_KEY_USED",
    body: { error: { details: { type: "definition", id: definition?.id } } },
  });
  expect(await countDefinitions(app)).toBe(1);
});
