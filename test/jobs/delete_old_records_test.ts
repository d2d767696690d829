import { expect, test } from "bun:test";
import { deleteOldRecords } from "../../jobs/delete_old_records.ts";
import { insertExecutions } from "../../sql/definitions/executions.ts";
import { login, makeAccount, signIn } from "../helpers/accounts/accounts.ts";
import { makeVersion } from "../helpers/definitions/definition_list.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../helpers/models/catalog.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NEVER = new AbortController().signal;
const PAST = "2026-01-01T00:00:00.000Z";
const HOUR_MS = 3_600_000;
/** Columns of an export job whose file is, or was, in the store. */
const FILE = {
  artifactKey: "key",
  artifactFileName: "export.zip",
  artifactBytes: 1,
  artifactSha256: "0".repeat(64),
  readyAt: PAST,
  expiresAt: PAST,
};

test("deletes ended and expired sessions, and keeps valid sessions", async () => {
  await using app = await openTestApp();
  const { id: userId } = await app.make.user();
  const working = await app.make.session({ userId });
  await app.make.session({ userId, expiresAt: PAST });
  await app.make.session({ userId, revokedAt: PAST });
  await deleteOldRecords(app.deps, NEVER);
  expect([...(await app.db.sql`select id from sessions`)]).toEqual([{ id: working.id }]);
  expect((await app.request("/api/v1/auth/me", { key: working.token })).status).toBe(200);
  expect(app.logLines).toContainEqual(expect.objectContaining({ event: "retention.swept", sessions: 2 }));
});

test("deletes a signed-out session but keeps its audit entries", async () => {
  await using app = await openTestApp();
  const account = await makeAccount(app);
  const { sessionToken } = await signIn(app, account);
  await app.request("/api/v1/auth/logout", { method: "POST", key: sessionToken });
  await deleteOldRecords(app.deps, NEVER);
  expect(await app.db.sql`select 1 from sessions`).toHaveLength(0);
  const rows = await app.db.sql<{ action: string }[]>`select action from audit_log order by id`;
  expect(rows.map(({ action }) => action)).toEqual(["session.create", "session.revoke"]);
});

test("deletes sign-in attempts only when they no longer count toward a rate limit", async () => {
  await using app = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
  const nobody = { email: "nobody@example.com", password: "wrong" };
  expect((await login(app, nobody)).status).toBe(401);
  await deleteOldRecords(app.deps, NEVER);
  expect((await login(app, nobody)).status).toBe(429);
  await app.db.sql`update login_attempts set last_attempt_at = last_attempt_at - interval '1 minute'`;
  await deleteOldRecords(app.deps, NEVER);
  expect(await app.db.sql`select 1 from login_attempts`).toHaveLength(0);
});

test("deletes sign-in delays and known networks only after they have expired", async () => {
  await using app = await openTestApp({ config: { rateLimitLoginPerMinute: 1 } });
  const { sql } = app.db;
  const account = await makeAccount(app);
  await login(app, account, { address: "198.51.100.1" });
  const guess = (network: number) =>
    login(app, { email: account.email, password: "wrong" }, { address: `203.0.${network}.1` });
  for (let network = 1; network <= 3; network += 1) await guess(network);
  const countRows = async () => {
    const [row] = await sql`
      select
        (select count(*)::int from login_account_attempts) as accounts,
        (select count(*)::int from login_waits) as waits,
        (select count(*)::int from sign_in_networks) as networks`;
    return { ...row };
  };
  await deleteOldRecords(app.deps, NEVER);
  expect(await countRows()).toEqual({ accounts: 1, waits: 3, networks: 1 });
  await sql`update login_account_attempts set last_attempt_at = now() - interval '25 hours'`;
  await sql`update login_waits set waiting_since = now() - interval '61 minutes'`;
  await sql`update sign_in_networks set last_signed_in_at = now() - interval '31 days'`;
  await deleteOldRecords(app.deps, NEVER);
  expect(await countRows()).toEqual({ accounts: 0, waits: 0, networks: 0 });
});

test("keeps ended sessions for SESSION_RETENTION_DAYS", async () => {
  await using app = await openTestApp({ config: { sessionRetentionDays: 2 } });
  const { id: userId } = await app.make.user();
  const recent = await app.make.session({
    userId,
    revokedAt: new Date(Date.now() - 47 * HOUR_MS).toISOString(),
  });
  await app.make.session({ userId, revokedAt: new Date(Date.now() - 49 * HOUR_MS).toISOString() });
  await deleteOldRecords(app.deps, NEVER);
  expect([...(await app.db.sql`select id from sessions`)]).toEqual([{ id: recent.id }]);
});

test("deletes old executions without lowering the line's execution count", async () => {
  await using app = await openTestApp({ config: { executionRetentionDays: 31 } });
  const { sql } = app.db;
  const person = await app.make.person();
  const owner = { orgId: person.org.id, authorId: person.user.id, name: "reviewer" };
  const definitionId = await makeVersion(sql, { ...owner, version: "1.0.0" });
  const [line] = await sql<[{ id: string }]>`select id from definition_lines`;
  await insertExecutions(sql, {
    lineId: line.id,
    auditEntries: [],
    executions: Array.from({ length: 2100 }, (_, n) => ({
      id: crypto.randomUUID(),
      definitionId,
      runId: `run-${n}`,
      source: "cli",
      recordedBy: person.user.id,
      recordedAt: new Date(Date.now() - (n < 2050 ? 32 : 30) * 24 * HOUR_MS).toISOString(),
    })),
  });
  await deleteOldRecords(app.deps, NEVER);
  const [left] = await sql`
    select
      (select count(*)::int from definition_executions) as records,
      (select sum(count)::int from definition_execution_hours) as in_hours,
      (select execution_count from definition_lines) as counted`;
  expect({ ...left }).toEqual({ records: 50, inHours: 50, counted: 2100 });
  expect(app.logLines).toContainEqual(
    expect.objectContaining({ event: "retention.swept", executions: 2050 }),
  );
});

test("deletes old export jobs without a file, but never the latest job of an organization", async () => {
  await using app = await openTestApp({ config: { exportJobRetentionDays: 10 } });
  const { sql } = app.db;
  const person = await app.make.person();
  const addJob = (number: number, status: string, finishedDaysAgo: number) => sql`
    insert into export_jobs ${sql({
      number,
      orgId: person.org.id,
      requestedBy: person.user.id,
      status,
      format: "ndjson",
      asOf: PAST,
      includeDeleted: false,
      includeArchived: false,
      includeSuperseded: false,
      includeResolved: true,
      finishedAt: new Date(Date.now() - finishedDaysAgo * 24 * HOUR_MS).toISOString(),
      ...(status === "failed" ? { errorCode: "CANCELED", errorMessage: "Canceled" } : FILE),
    })}`;
  await addJob(1, "failed", 11);
  await addJob(2, "expired", 11);
  await addJob(3, "ready", 11);
  await addJob(4, "failed", 9);
  await addJob(5, "expired", 12);
  await deleteOldRecords(app.deps, NEVER);
  const rows = await sql<{ number: number }[]>`select number from export_jobs order by number`;
  expect(rows.map(({ number }) => number)).toEqual([3, 4, 5]);
});

test("the log of tracker rows is kept for 91 days, as long as increments may read it", async () => {
  await using app = await openTestApp();
  await app.db.owner`
    insert into tracker_changes (project_id, dataset, at, kind, id)
    select gen_random_uuid(), 'issues', now() - make_interval(days => age), 'deletion', gen_random_uuid()
    from unnest(array[89, 90, 92, 200]) as age, generate_series(1, 700)`;
  await deleteOldRecords(app.deps, NEVER);
  const ages = await app.db.sql<{ days: number }[]>`
    select distinct extract(day from now() - at)::int as days from tracker_changes order by 1`;
  expect(ages.map(({ days }) => days)).toEqual([89, 90]);
});

test("deletes old catalog syncs, except the last, the last successful, and any with a decision or price change", async () => {
  await using app = await openTestApp();
  const { sql } = app.db;
  const syncAtPrice = (input: number) =>
    syncFrom(sql, documentSource(makeDocument({ acme: { one: { cost: { input, output: 2 } } } })));
  await syncAtPrice(1);
  await syncAtPrice(2);
  await app.db.owner`
    update catalog_syncs set
      started_at = '2024-01-01', finished_at = '2024-01-01',
      source = case when id = (select max(id) from catalog_syncs) then 'with a price' else 'old' end`;
  await app.db.owner`
    insert into catalog_syncs (started_at, finished_at, source, outcome, error, decision)
    select
      '2024-01-02', '2024-01-02', source, outcome, case when outcome in ('failed', 'refused') then 'no answer' end, decision
    from (
      values
        ('unchanged', 'old', null), ('failed', 'old', null), ('refused', 'old', 'rejected'), ('changed', 'last good', null),
        ('failed', 'old', null), ('refused', 'decided', 'rejected'), ('refused', 'old', null), ('failed', 'last', null)
    ) as v (outcome, source, decision)`;
  await deleteOldRecords(app.deps, NEVER);
  const left = await sql<{ source: string }[]>`select source from catalog_syncs order by id`;
  expect(left.map(({ source }) => source)).toEqual(["with a price", "last good", "decided", "last"]);
});

test("deletes replaced webhook secrets once they have expired", async () => {
  await using app = await openTestApp();
  const { org } = await app.make.person();
  await app.db.sql`
    with webhook as (
      insert into webhooks (org_id, url, types, secret, position)
      values (${org.id}, 'https://example.com/hook', '{export.ready}', 'whsec_AAAA', 0)
      returning id
    )
    insert into webhook_retired_secrets (webhook_id, secret, expires_at)
    select id, 'whsec_BBBB', now() + hours * interval '1 hour' from webhook, unnest(array[-1, 0, 1]) as hours`;
  await deleteOldRecords(app.deps, NEVER);
  const left = await app.db.sql<{ isValid: boolean }[]>`
    select expires_at > now() as is_valid from webhook_retired_secrets`;
  expect([...left]).toEqual([{ isValid: true }]);
});

test("deletes many sessions in concurrent sweeps, and finds each batch of sessions by an index", async () => {
  await using app = await openTestApp();
  const { id: userId } = await app.make.user();
  const working = await app.make.session({ userId });
  await app.db.sql`
    insert into sessions (user_id, token_hash, expires_at)
    select ${userId}::uuid, sha256(n::text::bytea), now() - n * interval '1 second'
    from generate_series(1, 20000) n`;
  await app.db.owner`analyze sessions`;
  const plan = await app.db.sql<{ "QUERY PLAN": string }[]>`
    explain select id from sessions where least(expires_at, revoked_at) <= now()
    order by least(expires_at, revoked_at) limit 1000`;
  expect(JSON.stringify(plan)).toContain("sessions_ended_at_idx");
  await Promise.all(Array.from({ length: 3 }, () => deleteOldRecords(app.deps, NEVER)));
  await deleteOldRecords(app.deps, NEVER);
  expect([...(await app.db.sql`select id from sessions`)]).toEqual([{ id: working.id }]);
});

test("deletes old records when the job runner starts", async () => {
  await using app = await openTestApp();
  const { id: userId } = await app.make.user();
  await app.make.session({ userId, expiresAt: PAST });
  await using _ = await openTestRunner(app, { isWorking: true });
  await waitFor(async () => (await app.db.sql`select 1 from sessions`).length === 0);
});
