import { expect, test } from "bun:test";
import { JOB_NAMES } from "../../../shared/background_jobs.ts";
import { JOBS_PATH, jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

/** Reads the metrics. Returns their values by name and labels. */
async function readMetrics(app: TestApp): Promise<Map<string, number>> {
  return parseMetrics(await (await app.request("/metrics")).text());
}

function parseMetrics(text: string): Map<string, number> {
  return new Map(
    [...text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)].map(([, name = "", value]) => [name, Number(value)]),
  );
}

test("GET /metrics contains the depth of every queue, and the outcome and duration of builds", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  // Reads the registry, because the response of GET /metrics would be cached and returned again below.
  const empty = parseMetrics(await app.deps.metrics.registry.metrics());
  for (const queue of JOB_NAMES) {
    for (const state of ["created", "retry", "active", "failed"]) {
      expect(empty.get(`job_queue_depth{queue="${queue}",state="${state}"}`)).toBe(0);
    }
  }
  const { person } = await makeExportProject(app);
  const built = await jobOf(await postJob(app, person));
  await runner.build(built.id);
  await app.db.sql`
    update export_jobs set created_at = finished_at - interval '90 seconds' where id = ${built.id}`;
  const canceled = await jobOf(await postJob(app, person));
  await app.request(`${JOBS_PATH}/${canceled.id}/cancel`, { method: "POST", key: person.key });
  await postJob(app, person);
  const metrics = await readMetrics(app);
  expect(metrics.get('job_queue_depth{queue="build_org_export",state="created"}')).toBe(1);
  expect(metrics.get('job_queue_depth{queue="send_export_ready",state="created"}')).toBe(1);
  expect(metrics.get('export_jobs_finished_last_day{result="ready"}')).toBe(1);
  expect(metrics.get('export_jobs_finished_last_day{result="CANCELED"}')).toBe(1);
  for (const quantile of ["0.5", "0.95", "1"]) {
    expect(metrics.get(`export_job_duration_seconds{result="ready",quantile="${quantile}"}`)).toBe(90);
  }
});

test("GET /metrics omits the depth of queues that it cannot read, and logs a warning", async () => {
  await using app = await openTestApp();
  await app.db.owner`alter schema pgboss rename to elsewhere`;
  const metrics = await readMetrics(app);
  expect(metrics.has("export_stream_slots")).toBe(true);
  expect([...metrics.keys()].filter((name) => name.startsWith("job_queue_depth"))).toEqual([]);
  expect(app.logLines).toContainEqual(
    expect.objectContaining({ level: "warn", event: "metrics.unreadable", metric: "job_queue_depth" }),
  );
  await app.db.owner`alter schema elsewhere rename to pgboss`;
});
