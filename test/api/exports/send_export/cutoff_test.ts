import { expect, test } from "bun:test";
import { buildApp } from "../../../../api/app.ts";
import { createMetrics } from "../../../../api/http/metrics.ts";
import { API_APPLICATION } from "../../../../sql/connection/application_names.ts";
import { openPool } from "../../../../sql/connection/pool.ts";
import { errorOf, listMismatches, postJob } from "../../../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject, ndjsonRows } from "../../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp, testRequest } from "../../../helpers/http/app.ts";

/** Opens a transaction, like a tracker that is still writing. `release` ends it. */
async function holdTransaction({ db }: TestApp): Promise<{ release: () => Promise<unknown> }> {
  const released = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const done = db.sql.begin(async (tx) => {
    await tx`select now()`;
    opened.resolve();
    await released.promise;
  });
  await opened.promise;
  return {
    release: () => {
      released.resolve();
      return done;
    },
  };
}

test("an as_of after the start of an open transaction returns 503 with Retry-After, and the log names the blocker", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const open = await holdTransaction(app);
  const [{ now }] = await app.db.sql<[{ now: string }]>`select clock_timestamp() as now`;
  const response = await exportDataset(app, made, "issues", `?as_of=${now}`);
  const { error } = (await response.json()) as { error: { code: string } };
  expect([response.status, error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(app.logLines.find((line) => line["event"] === "export.watermark_held_back")).toMatchObject({
    level: "warn",
    blockers: [{ applicationName: "test" }],
  });
  // Without `as_of`, the cutoff is earlier than the transaction. The metric reports the transaction's age.
  const chosen = await exportDataset(app, made, "issues");
  expect(await ndjsonRows(chosen)).toHaveLength(2);
  const metrics = await (await app.request("/metrics")).text();
  expect(Number(/^export_watermark_held_back_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(4);
  await open.release();
});

test("a service clock that is ahead of the database's clock is not reported as a lag", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const clock = Date.now;
  Date.now = () => clock() + 3_600_000;
  try {
    expect(await ndjsonRows(await exportDataset(app, made, "issues"))).toHaveLength(2);
  } finally {
    Date.now = clock;
  }
  expect(app.logLines.filter((line) => line["event"] === "export.watermark_held_back")).toEqual([]);
});

test("sessions that the database hides from the service cause a 503, and the log names the missing grant", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const role = `blind_${crypto.randomUUID().slice(0, 8)}`;
  await app.db.admin.unsafe(`
    create role ${role} login password 'blind';
    grant select, update on all tables in schema public to ${role};
    grant insert on audit_log to ${role}`);
  const url = new URL(app.db.url);
  [url.username, url.password] = [role, "blind"];
  const sql = openPool(url.href, { applicationName: API_APPLICATION, max: 2 });
  const blind = buildApp({ ...app.deps, sql, metrics: createMetrics() });
  const path = `http://localhost/api/v1/export/projects/${project.id}/issues`;
  const response = await blind.handle(testRequest(path, { key: person.key }), "192.0.2.1");
  const text = await response.text();
  expect([response.status, JSON.parse(text).error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(text).toContain("The database hides other sessions from the service");
  expect(text).not.toContain("pg_");
  const warned = app.logLines.find((line) => line["event"] === "export.watermark_held_back");
  expect(warned).toMatchObject({ level: "warn", hint: expect.stringContaining("pg_read_all_stats") });
  await app.db.admin.unsafe(`grant pg_read_all_stats to ${role}`);
  const seen = await blind.handle(testRequest(path, { key: person.key }), "192.0.2.1");
  expect(seen.status).toBe(200);
  await seen.text();
  await sql.end();
  await app.db.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test("an export job with an unsettled as_of returns 503 with Retry-After and is not queued", async () => {
  await using app = await openTestApp();
  const { person } = await makeExportProject(app);
  const open = await holdTransaction(app);
  const [{ now }] = await app.db.sql<[{ now: string }]>`select clock_timestamp() as now`;
  const response = await postJob(app, person, { as_of: now });
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await errorOf(response)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect([...(await app.db.sql`select id from export_jobs`)]).toEqual([]);
  expect(await listMismatches(app)).toEqual([]);
  await open.release();
  expect((await postJob(app, person, { as_of: now })).status).toBe(201);
});

test("applications in EXPORT_IGNORE_APPLICATIONS do not block exports and jobs", async () => {
  await using app = await openTestApp({ config: { exportIgnoreApplications: ["test"] } });
  const made = await makeExportProject(app);
  const open = await holdTransaction(app);
  const [{ now }] = await app.db.sql<[{ now: string }]>`select clock_timestamp() as now`;
  const response = await exportDataset(app, made, "issues");
  await response.text();
  expect((response.headers.get("x-export-as-of") ?? "") >= now).toBe(true);
  expect((await postJob(app, made.person, { as_of: now })).status).toBe(201);
  await open.release();
});
