import { expect, test } from "bun:test";
import { handOn } from "../../jobs/build_outcome.ts";
import { ForeignStoreError } from "../../jobs/store_owner.ts";
import { findActiveExportJob } from "../../sql/exports/jobs.ts";
import { jobOf, postJob } from "../helpers/exports/export_job.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";

test("keeps a job queued if its last attempt does not count and the job is already queued again", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const person = await app.make.person();
  const { id } = await jobOf(await postJob(app, person));
  // Simulates that an earlier query, whose response was lost, has already requeued the job.
  await app.db.sql`update export_jobs set attempt = 3 where id = ${id}`;
  const job = await findActiveExportJob(app.db.sql, person.org.id);
  if (!job) throw new Error("Cannot find the queued job");
  const claim = { id, name: "build_org_export", signal: new AbortController().signal } as never;
  const build = { job, artifactKey: "unused", claim, traceparent: undefined, log: app.deps.log };
  const error = new ForeignStoreError();
  await expect(handOn(runner.deps, build, error)).rejects.toBe(error);
  const [row] = await app.db.sql`select status, attempt from export_jobs where id = ${id}`;
  expect(row).toEqual({ status: "queued", attempt: 3 });
});
