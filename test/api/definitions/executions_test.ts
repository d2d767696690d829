import { expect, test } from "bun:test";
import { buildApp } from "../../../api/app.ts";
import { createMetrics } from "../../../api/http/metrics.ts";
import {
  ask,
  type Caller,
  errorOf,
  type MadeDefinition,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { countsOf, makePlatformAdmin, record, statisticsOf } from "../../helpers/definitions/executions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** Adds an execution in SQL. `at` is the time at which it was recorded. */
async function makeExecution(
  api: TestApp,
  { id, lineId }: MadeDefinition,
  { at, source = "cli", userId }: { at: string; source?: string; userId: string },
): Promise<void> {
  await api.db.sql`
    insert into definition_executions (line_id, definition_id, source, recorded_by, recorded_at)
    values (${lineId}, ${id}, ${source}, ${userId}, ${at})`;
}

test("an execution of a given version, or else of the latest version, is recorded and audited", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admin = await makePlatformAdmin(api);
  const first = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const second = await publishAgent(api, person, {
    name: "reviewer",
    version: "1.1.0",
    visibility: "public",
  });
  expect(await record(api, admin, "/agent/reviewer@1.0.0", { source: "sdk" })).toEqual({
    status: 201,
    recorded: true,
    duplicate: false,
    definition: { id: first.id, type: "agent", name: "reviewer", version: "1.0.0" },
    executionCount: 1,
  });
  const body = { source: "cli", runId: "run-1" };
  expect(await record(api, admin, "/agent/reviewer", body)).toMatchObject({
    status: 201,
    definition: { id: second.id, version: "1.1.0" },
    executionCount: 2,
  });
  expect(await record(api, admin, "/agent/reviewer@1.0.0", { source: "api", runId: "run-1" })).toMatchObject({
    status: 200,
    recorded: false,
    duplicate: true,
    definition: { version: "1.0.0" },
    executionCount: 2,
  });
  await publishAgent(api, person, { name: "other", visibility: "public" });
  expect(await record(api, admin, "/agent/other", body)).toMatchObject({ status: 201, executionCount: 1 });
  const audited = await api.db.sql`
    select subject_id, details from audit_log where action = 'execution.record' order by id`;
  expect(audited.map(({ subjectId, details }) => [subjectId, details.runId])).toEqual([
    [first.id, null],
    [second.id, "run-1"],
    [expect.any(String), "run-1"],
  ]);
});

test("fifty concurrent recordings of the same run count as one execution and 49 duplicates", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admin = await makePlatformAdmin(api);
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const body = { source: "sdk", runId: "the same" };
  const results = await Promise.all(
    Array.from({ length: 50 }, () => record(api, admin, "/agent/reviewer", body)),
  );
  const outcomes = results.map(({ status, recorded, duplicate, executionCount }) =>
    [status, recorded, duplicate, executionCount].join(),
  );
  expect(outcomes.toSorted()).toEqual([...Array(49).fill("200,false,true,1"), "201,true,false,1"]);
  expect(await countsOf(api, "reviewer")).toMatchObject({
    executionCount: 1,
    records: 1,
    inHours: 1,
    audited: 1,
  });
});

test("recordings waiting for the same line use at most half of the connections and may wait longer than reads", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admins = [await makePlatformAdmin(api), await makePlatformAdmin(api)];
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const half = Math.ceil(api.deps.config.databasePoolMax / 2);
  const recordings: Promise<Response>[] = [];
  await api.db.owner.begin(async (tx) => {
    await tx`select from definition_lines where name = 'reviewer' for update`;
    for (const admin of admins) {
      for (let n = 0; n <= half; n += 1) {
        recordings.push(write(api, "/agent/reviewer/executions", admin, { body: { source: "sdk" } }));
      }
    }
    await waitFor(async () => {
      const rows = await api.db.admin`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%definition_executions%'
          -- A read waits three seconds.
          and clock_timestamp() - query_start > interval '4 seconds'`;
      return rows.length === half;
    });
    expect((await ask(api, "/agent/reviewer", person)).status).toBe(200);
  });
  const statuses = (await Promise.all(recordings)).map(({ status }) => status);
  expect(statuses).toEqual(recordings.map(() => 201));
});

test("counters are exact under concurrent writes from two processes", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const admins = await Promise.all(Array.from({ length: 4 }, () => makePlatformAdmin(api)));
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  // A second app on the same database simulates another process.
  const twin = buildApp({ ...api.deps, metrics: createMetrics() });
  const second: Pick<TestApp, "request"> = {
    request: (path, { key = "", body } = {}) =>
      twin.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
        "192.0.2.1",
      ),
  };
  const writers = Array.from({ length: 32 }, async (_, writer) => {
    const results = [];
    for (let n = 0; n < 5; n += 1) {
      const admin = admins[writer % admins.length] ?? admins[0];
      // The first requests of each pair of writers have the same run id.
      const body = { source: "sdk", ...(n === 0 ? { runId: `run-${writer >> 1}` } : {}) };
      results.push(await record(writer % 2 ? second : api, admin as Caller, "/agent/reviewer", body));
    }
    return results;
  });
  const results = (await Promise.all(writers)).flat();
  const added = results.filter(({ recorded }) => recorded);
  expect(added.length).toBe(32 * 5 - 16);
  // Each response has a different count, so no update was lost.
  expect(new Set(added.map(({ executionCount }) => executionCount)).size).toBe(added.length);
  expect(await countsOf(api, "reviewer")).toEqual({
    executionCount: added.length,
    uniqueExecutionCount: 4,
    records: added.length,
    callers: 4,
    inHours: added.length,
    audited: added.length,
  });
});

test("statistics cover the whole line and the requested window", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const open = { name: "reviewer", status: "published", visibility: "public" } as const;
  const first = await makeDefinition(api.db.sql, person, open);
  const hidden = await makeDefinition(api.db.sql, person, {
    ...open,
    version: "1.1.0",
    visibility: "private",
  });
  const userId = person.user.id;
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  for (const [made, minutes, source] of [
    [first, 1, "cli"],
    [first, 30, "sdk"],
    [hidden, 50, "cli"],
    [first, 90, "cli"],
    [first, 3000, "api"],
    [first, 50_000, "api"],
  ] as const) {
    await makeExecution(api, made, { at: minutesAgo(minutes), source, userId });
  }
  await api.db.sql`
    update definition_lines set execution_count = 6, unique_execution_count = 1 where name = 'reviewer'`;
  const path = "/agent/reviewer";
  expect(await statisticsOf(api, path)).toEqual({ totalCount: 6, recentCount: 3, windowMinutes: 60 });
  expect(await statisticsOf(api, `${path}@1.0.0`, "?window=43200")).toEqual({
    totalCount: 6,
    recentCount: 5,
    windowMinutes: 43_200,
  });
  expect(await statisticsOf(api, path, "?window=1440&include=bySource,byVersion")).toEqual({
    totalCount: 6,
    recentCount: 4,
    windowMinutes: 1440,
    bySource: [
      { source: "cli", count: 3 },
      { source: "sdk", count: 1 },
    ],
    byVersion: [{ version: "1.0.0", count: 3 }],
  });
  const own = await statisticsOf(api, path, "?include=byVersion", { key: person.key });
  expect(own.byVersion).toEqual([
    { version: "1.0.0", count: 2 },
    { version: "1.1.0", count: 1 },
  ]);
});

test("byTime lists every hour or day of the window in UTC, including those without executions", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await makeDefinition(api.db.sql, person, {
    name: "reviewer",
    status: "published",
    visibility: "public",
  });
  const now = Date.now();
  for (const minutes of [1, 60, 2880, 2880]) {
    const at = new Date(now - minutes * 60_000).toISOString();
    await makeExecution(api, made, { at, userId: person.user.id });
  }
  for (const [bucket, stepMs, query] of [
    ["hour", 3_600_000, "include=byTime"],
    ["day", 86_400_000, "include=byTime&include=bySource&timeBucket=day"],
  ] as const) {
    const { byTime = [], recentCount } = await statisticsOf(api, "/agent/reviewer", `?window=4320&${query}`);
    const times = byTime.map(({ time }) => Date.parse(time));
    expect([bucket, byTime.length]).toEqual([bucket, (4320 * 60_000) / stepMs + 1]);
    expect(times.every((time, index) => time === (times[0] ?? 0) + index * stepMs)).toBe(true);
    expect(times[0]).toBe(Math.floor((times[0] ?? 1) / stepMs) * stepMs);
    expect(byTime.reduce((sum, { count }) => sum + count, 0)).toBe(recentCount);
    expect(recentCount).toBe(4);
    const at = (minutes: number) =>
      byTime.find(({ time }) => Date.parse(time) + stepMs > now - minutes * 60_000)?.count;
    expect(at(2880)).toBe(2);
    expect(byTime.at(-1)?.time.slice(0, 10)).toBe(new Date().toISOString().slice(0, 10));
  }
  const none = await statisticsOf(api, "/agent/reviewer", "?window=1&include=byTime,bySource,byVersion");
  expect([none.bySource, none.byVersion, none.byTime?.every(({ count }) => count === 0)]).toEqual([
    [],
    [],
    true,
  ]);
});

test("statistics reject invalid parameters", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const window = "must be a whole number from 1 to 43200";
  const include = "must be any of byTime, bySource, byVersion";
  const cases: readonly [string, string, string][] = [
    ["window=0", "window", window],
    ["window=43201", "window", window],
    ["window=1.5", "window", window],
    ["window=hour", "window", window],
    ["window=60&window=60", "window", "must be given once"],
    ["include=byCaller", "include", include],
    ["include=byTime,byMoon", "include", include],
    ["include=byTime&include=", "include", include],
    ["timeBucket=week", "timeBucket", "must be one of hour, day"],
  ];
  for (const [query, path, message] of cases) {
    const response = await ask(api, `/agent/reviewer/executions?${query}`, null);
    expect([query, await errorOf(response)]).toEqual([
      query,
      [400, "VALIDATION_ERROR", { errors: [{ path, message }] }],
    ]);
  }
});
