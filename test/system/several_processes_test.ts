/** All API processes of a database share the export and sign-in limits, even for concurrent requests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { login, makeAccount } from "../helpers/accounts/accounts.ts";
import { JOBS_PATH, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import { type ApiProcess, startApi } from "../helpers/process/api_process.ts";

const JOBS_PER_HOUR = 4;
const LOGINS_PER_MINUTE = 5;

let db: TestDatabase;
let processes: ApiProcess[];
beforeAll(async () => {
  db = await openTestDatabase();
  const env = {
    DATABASE_URL: db.url,
    EXPORT_JOBS_PER_HOUR: String(JOBS_PER_HOUR),
    RATE_LIMIT_LOGIN_PER_MINUTE: String(LOGINS_PER_MINUTE),
    RATE_LIMIT_USER_PER_MINUTE: "100000",
    TRUST_PROXY: "true",
  };
  processes = await Promise.all([startApi(env), startApi(env)]);
});
afterAll(async () => {
  for (const api of processes) await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/**
 * Queues and cancels jobs until the limit is reached. Retries while a job of a concurrent call is active. Returns the ids of the
 * jobs that it queued.
 */
async function queueToTheLimit(api: ApiProcess, person: Person): Promise<string[]> {
  const queued: string[] = [];
  while (true) {
    const response = await postJob(api, person);
    if (response.status === 429) return queued;
    const { id } = await jobOf(response);
    if (response.status !== 201) continue;
    queued.push(id);
    // Jobs that are canceled before their build begins do not count.
    await db.sql`update export_jobs set started_at = now() where id = ${id}`;
    const cancel = await api.request(`${JOBS_PATH}/${id}/cancel`, { method: "POST", key: person.key });
    expect(cancel.status).toBe(200);
  }
}

test("an organization can queue exactly as many export jobs across processes as the hourly limit allows", async () => {
  const person = await createFactory(db.sql).person({ role: "publisher" });
  const clients = [...processes, ...processes, ...processes, ...processes];
  const queued = await Promise.all(clients.map((api) => queueToTheLimit(api, person)));
  const rows = await db.sql<{ id: string }[]>`select id from export_jobs where org_id = ${person.org.id}`;
  expect(queued.flat().toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  expect(rows.length).toBe(JOBS_PER_HOUR);
  expect(await listMismatches({ db })).toEqual([]);
  // Another organization has its own limit.
  const other = await createFactory(db.sql).person({ role: "publisher" });
  for (const [api, status] of [
    [processes[0], 201],
    [processes[1], 200],
  ] as const) {
    expect(api && (await postJob(api, other)).status).toBe(status);
  }
});

/** Sends concurrent sign-in requests, spread evenly over the processes. Returns the sorted statuses. */
async function attempt(pairs: readonly { email: string; address: string }[]): Promise<number[]> {
  const responses = pairs.map(async ({ email, address }, index) => {
    const api = processes[index % processes.length];
    if (!api) throw new Error("Cannot sign in: no process is running");
    const options = { headers: { "x-forwarded-for": address } };
    return (await login(api, { email, password: "wrong password" }, options)).status;
  });
  return (await Promise.all(responses)).toSorted((a, b) => a - b);
}

const ATTEMPTS = Array.from({ length: 16 }, (_, index) => index);
const REFUSED_BEYOND_LIMIT = ATTEMPTS.map((index) => (index < LOGINS_PER_MINUTE ? 401 : 429));

test("sign-in attempts for an account are limited per minute across processes and all addresses of a network", async () => {
  const { email } = await makeAccount({ make: createFactory(db.sql) });
  expect(await attempt(ATTEMPTS.map((n) => ({ email, address: `198.51.100.${n}` })))).toEqual(
    REFUSED_BEYOND_LIMIT,
  );
});

test("sign-in attempts from an address are limited per minute across processes and all accounts", async () => {
  const pairs = ATTEMPTS.map((n) => ({ email: `nobody-${n}@example.com`, address: "203.0.113.7" }));
  expect(await attempt(pairs)).toEqual(REFUSED_BEYOND_LIMIT);
});
