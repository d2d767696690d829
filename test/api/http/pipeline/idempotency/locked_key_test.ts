/** Repeated requests while another transaction locks their key, or blocks the write of the first request. */
import { expect, test } from "bun:test";
import type { Pool } from "../../../../../sql/connection/pool.ts";
import { publishAgent } from "../../../../helpers/definitions/definitions.ts";
import { makePlatformAdmin } from "../../../../helpers/definitions/executions.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { listWaiting } from "../../../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../../../helpers/wait_for.ts";

interface Outcome {
  status: number;
  isReplayed: boolean;
  code: string | undefined;
}

const IN_PROGRESS = { status: 409, isReplayed: false, code: "IDEMPOTENCY_IN_PROGRESS" };

/** Publishes a definition. Returns a function that records an execution, always with the same idempotency key. */
async function openRecorder(app: TestApp): Promise<() => Promise<Outcome>> {
  const { key } = await makePlatformAdmin(app);
  await publishAgent(app, await app.make.person(), { name: "reviewer", visibility: "public" });
  return async () => {
    const response = await app.request("/api/v1/definitions/agent/reviewer/executions", {
      method: "POST",
      key,
      headers: { "idempotency-key": "retry-1" },
      body: { source: "cli" },
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    const isReplayed = response.headers.get("idempotency-replayed") === "true";
    return { status: response.status, isReplayed, code: error?.code };
  };
}

/** Runs the statement in a transaction, and commits the transaction after the task. */
async function during<Result>(sql: Pool, statement: string, task: () => Promise<Result>): Promise<Result> {
  const { result } = await sql.begin(async (tx) => {
    await tx.unsafe(statement);
    return { result: await task() };
  });
  return result;
}

test("a request repeated while the first request's write waits for a lock returns 409 immediately", async () => {
  await using app = await openTestApp();
  const record = await openRecorder(app);
  // Returns the promise in an object, because a bare promise would be awaited while the table is locked.
  const { first } = await during(app.db.owner, "lock table definition_executions in share mode", async () => {
    const first = record();
    await waitFor(async () => (await listWaiting(app.db.admin, "definition_executions")).length > 0);
    expect(await record()).toEqual(IN_PROGRESS);
    return { first };
  });
  expect(await first).toMatchObject({ status: 201, isReplayed: false });
  expect(await record()).toMatchObject({ status: 201, isReplayed: true });
  expect(await app.db.sql`select from definition_executions`).toHaveLength(1);
});

/** Simulates a crash: the request has written nothing, and the lock of its key has expired. */
async function abandonKey({ db }: TestApp): Promise<void> {
  await db.sql`delete from definition_executions`;
  await db.sql`
    update idempotency_keys
    set locked_until = now(), applied_at = null, subject_type = null, subject_id = null,
      status = null, headers = null, body = null`;
}

test("a key whose lock has expired is not taken over while its request's write is still running", async () => {
  await using app = await openTestApp();
  const record = await openRecorder(app);
  await record();
  await abandonKey(app);
  const claim =
    "update idempotency_keys set applied_at = now(), subject_type = 'definition', subject_id = gen_random_uuid()::text";
  expect(await during(app.db.sql, claim, record)).toEqual(IN_PROGRESS);
  expect(await record()).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_USED" });
  expect(await app.db.sql`select from definition_executions`).toHaveLength(0);
});

test("of many requests that could take over an abandoned key, only one is carried out", async () => {
  await using app = await openTestApp();
  const record = await openRecorder(app);
  await record();
  await abandonKey(app);
  const outcomes = await Promise.all(Array.from({ length: 10 }, record));
  expect(outcomes.filter(({ status, isReplayed }) => status === 201 && !isReplayed)).toHaveLength(1);
  const others = outcomes.filter(({ status, isReplayed }) => status !== 201 && !isReplayed);
  expect(others).toEqual(others.map(() => IN_PROGRESS));
  expect(await app.db.sql`select from definition_executions`).toHaveLength(1);
});

test("a request whose key is being deleted returns 409, and can be retried after the deletion", async () => {
  await using app = await openTestApp();
  const record = await openRecorder(app);
  await record();
  await abandonKey(app);
  expect(await during(app.db.sql, "delete from idempotency_keys", record)).toEqual(IN_PROGRESS);
  expect(await record()).toMatchObject({ status: 201, isReplayed: false });
});
