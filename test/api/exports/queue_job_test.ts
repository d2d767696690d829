import { describe, expect, test } from "bun:test";
import type { ExportJob } from "../../../api/exports/export_job.ts";
import {
  cancelJob,
  errorOf,
  jobOf,
  listAudited,
  listMismatches,
  postJob,
} from "../../helpers/exports/export_job.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

describe("POST /export/jobs", () => {
  test("queues an export of the organization as of now and writes a queue entry and an audit entry", async () => {
    await using app = await openTestApp();
    const person = await app.make.person({ role: "publisher" });
    const before = Date.now();
    const response = await postJob(app, person);
    expect(response.status).toBe(201);
    const job = await jobOf(response);
    expect(job).toEqual({
      id: expect.any(String),
      number: 1,
      status: "queued",
      format: "ndjson",
      asOf: expect.any(String),
      createdAt: expect.any(String),
      requestedBy: person.user.id,
      organizationId: person.org.id,
      visibility: {
        includeDeleted: false,
        includeArchived: false,
        includeSuperseded: false,
        includeResolved: true,
      },
      attempt: 0,
      progress: { projectsDone: 0, projectsTotal: 0, rowsWritten: 0, bytesWritten: 0 },
    });
    expect(Date.parse(job.asOf)).toBeGreaterThanOrEqual(before - 1);
    expect(job.asOf <= job.createdAt).toBe(true);
    expect(await listMismatches(app)).toEqual([]);
    const [entry] = await app.db.sql`select name, data, retry_limit from pgboss.job where id = ${job.id}`;
    expect(entry).toMatchObject({ name: "build_org_export", data: { exportJobId: job.id } });
    expect(await listAudited(app, job.id)).toEqual([
      {
        action: "export_job.queue",
        actorUserId: person.user.id,
        credentialId: person.keyId,
        orgId: person.org.id,
      },
    ]);
  });

  test("accepts format, as_of and the four flags", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const job = await jobOf(
      await postJob(app, person, {
        format: "csv",
        as_of: "2026-02-01T01:00:00.0009+01:00",
        include_deleted: true,
        include_archived: true,
        include_superseded: true,
        include_resolved: false,
      }),
    );
    expect(job).toMatchObject({
      format: "csv",
      asOf: "2026-02-01T00:00:00.000Z",
      visibility: {
        includeDeleted: true,
        includeArchived: true,
        includeSuperseded: true,
        includeResolved: false,
      },
    });
  });

  test("returns one 201, nineteen 200s and the same id to twenty concurrent requests", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const responses = await Promise.all(Array.from({ length: 20 }, () => postJob(app, person, {})));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    const ids = await Promise.all(responses.map(async (response) => (await jobOf(response)).id));
    expect(new Set(ids).size).toBe(1);
    expect(await listMismatches(app)).toEqual([]);
  });

  test("leaves no job and no queue entry if the audit entry cannot be written", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    await app.db.owner`alter table audit_log add constraint no_jobs check (action <> 'export_job.queue')`;
    expect((await postJob(app, person)).status).toBe(500);
    const [counts] = await app.db.sql`
      select (select count(*) from export_jobs) as jobs, (select count(*) from pgboss.job) as entries`;
    expect(counts).toEqual({ jobs: 0, entries: 0 });
  });
});

test("POST /export/jobs names the parameters in which the active job differs from the request", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const first = { format: "csv", since, include_deleted: true };
  const active = await jobOf(await postJob(app, person, first));
  const again = async (body: object) => {
    const response = await postJob(app, person, body);
    expect(response.status).toBe(200);
    const { job, ...rest } = (await response.json()) as { job: ExportJob };
    expect(job.id).toBe(active.id);
    return rest;
  };
  const same = [first, { ...first, as_of: active.asOf, include_resolved: true }];
  for (const body of same) expect(await again(body)).toEqual({});
  const earlier = new Date(Date.now() - 7_200_000).toISOString();
  const between = new Date(Date.now() - 1_800_000).toISOString();
  const others: [object, string][] = [
    [{ ...first, format: "parquet" }, "format is csv, not parquet"],
    [{ ...first, since: earlier }, `since is ${since}, not ${earlier}`],
    [{ ...first, as_of: between }, `as_of is ${active.asOf}, not ${between}`],
    [{ ...first, include_archived: true }, "include_archived is false, not true"],
    [{ ...first, include_superseded: true }, "include_superseded is false, not true"],
    [{ ...first, include_resolved: false }, "include_resolved is true, not false"],
    [{}, `format is csv, not ndjson; since is ${since}, not unset; include_deleted is true, not false`],
  ];
  for (const [body, named] of others) {
    expect(await again(body)).toEqual({
      parametersDiffer: true,
      message: `Export #1 is still active, with other parameters: ${named}. Yours was not queued. Wait until #1 has ended or cancel it, then queue yours`,
    });
  }
});

test("POST /export/jobs refuses a future as_of and a since that is too old, even while a job is active", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  expect((await postJob(app, person, {})).status).toBe(201);
  for (const body of [{ as_of: "2999-01-01T00:00:00Z" }, { since: "2020-01-01T00:00:00Z" }]) {
    const response = await postJob(app, person, body);
    expect([body, response.status]).toEqual([body, 400]);
  }
  expect(await app.db.sql`select from export_jobs`).toHaveLength(1);
});

describe("POST /export/jobs refuses", () => {
  test("a job over the hourly limit, with the time to wait", async () => {
    await using app = await openTestApp({ config: { exportJobsPerHour: 2 } });
    const person = await app.make.person();
    const ids: string[] = [];
    for (const _ of [1, 2]) {
      const { id } = await jobOf(await postJob(app, person));
      await app.db
        .sql`update export_jobs set status = 'running', attempt = 1, started_at = now() where id = ${id}`;
      await cancelJob(app, person.key, id, "?force=true");
      ids.push(id);
    }
    const refused = await postJob(app, person);
    const wait = Number(refused.headers.get("retry-after"));
    expect(await errorOf(refused)).toEqual([429, "EXPORT_JOB_LIMIT"]);
    expect(wait).toBeGreaterThan(3500);
    expect(wait).toBeLessThanOrEqual(3600);
    await app.db.sql`
      update export_jobs set created_at = created_at - interval '1 hour' where id = ${ids[0] ?? null}`;
    expect((await postJob(app, person)).status).toBe(201);
  });

  test("a job over the hourly limit, which does not count jobs canceled before their first build", async () => {
    await using app = await openTestApp({ config: { exportJobsPerHour: 1 } });
    const person = await app.make.person();
    for (const number of [1, 2, 3]) {
      const response = await postJob(app, person);
      expect(response.status).toBe(201);
      const job = await jobOf(response);
      expect(job.number).toBe(number);
      expect((await cancelJob(app, person.key, job.id)).status).toBe(200);
    }
    const { id } = await jobOf(await postJob(app, person));
    // Simulates a build that started and was then requeued because its runner shut down.
    await app.db.sql`update export_jobs set started_at = now() where id = ${id}`;
    await cancelJob(app, person.key, id);
    expect(await errorOf(await postJob(app, person))).toEqual([429, "EXPORT_JOB_LIMIT"]);
  });

  test("invalid bodies, with the path of each problem", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const bodies: [unknown, string[]][] = [
      [{ includeDeleted: true, project: "x" }, ["includeDeleted", "project"]],
      [
        { format: "xml", as_of: "yesterday", include_deleted: "true" },
        ["format", "as_of", "include_deleted"],
      ],
      [{ as_of: 1, include_resolved: null }, ["as_of", "include_resolved"]],
      [{ format: null, as_of: null }, ["format", "as_of"]],
      [{ as_of: "2999-01-01T00:00:00Z" }, ["as_of"]],
      [[], [""]],
      ["no json", [""]],
    ];
    for (const [body, paths] of bodies) {
      const response = await postJob(app, person, body, { "content-type": "application/json" });
      const { error } = (await response.json()) as { error: { details: { errors: { path: string }[] } } };
      expect([body, response.status, error.details.errors.map(({ path }) => path)]).toEqual([
        body,
        400,
        paths,
      ]);
    }
    expect(await app.db.sql`select id from export_jobs`).toEqual([] as never);
  });

  test("a caller whose key is revoked while the request waits", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const response = await commitDuring(
      app.db,
      async (tx) => {
        await tx`select from organizations where id = ${person.org.id} for update`;
        await tx`update api_keys set revoked_at = now() where id = ${person.keyId}`;
      },
      () => postJob(app, person),
    );
    expect(await errorOf(response)).toEqual([401, "UNAUTHORIZED"]);
    expect([...(await app.db.sql`select id from export_jobs`)]).toEqual([]);
  });

  test("viewers, free plans, other kinds of keys, read keys and strangers before reading the body", async () => {
    await using app = await openTestApp();
    const callers = [
      [await app.make.person({ role: "viewer" }), 403, "INSUFFICIENT_ORG_ROLE"],
      [await app.make.person({ tier: "free" }), 402, "SUBSCRIPTION_REQUIRED"],
      [await app.make.person({ kind: "automation" }), 403, "KEY_KIND_FORBIDDEN"],
      [await app.make.person({ kind: "system" }), 403, "KEY_KIND_FORBIDDEN"],
      [await app.make.person({ scope: "read" }), 403, "INSUFFICIENT_SCOPE"],
    ] as const;
    for (const [caller, status, code] of callers) {
      expect(await errorOf(await postJob(app, caller, { format: "xml" }))).toEqual([status, code]);
    }
    const [member] = callers[0];
    const stranger = await app.make.person();
    const response = await postJob(app, { key: stranger.key, org: member.org });
    expect(await errorOf(response)).toEqual([403, "ORG_ACCESS_DENIED"]);
  });
});
