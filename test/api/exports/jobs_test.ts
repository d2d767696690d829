import { describe, expect, test } from "bun:test";
import type { ExportJob } from "../../../api/exports/export_job.ts";
import {
  cancelJob,
  errorOf,
  JOBS_PATH,
  jobOf,
  listAudited,
  listMismatches,
  postJob,
} from "../../helpers/exports/export_job.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

describe("GET /export/jobs", () => {
  test("lists the organization's jobs in pages, newest first", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await jobOf(await postJob(app, person));
      await app.request(`${JOBS_PATH}/${id}/cancel`, { method: "POST", key: person.key });
      ids.unshift(id);
    }
    const list = async (query: string) => {
      const response = await app.request(`${JOBS_PATH}${query}`, {
        key: person.key,
        headers: { "x-org-slug": person.org.slug },
      });
      const { jobs, ...rest } = (await response.json()) as { jobs: ExportJob[] };
      for (const job of jobs) {
        expect(job).toMatchObject({
          number: 3 - ids.indexOf(job.id),
          format: "ndjson",
          visibility: { includeDeleted: false, includeResolved: true },
        });
      }
      return [jobs.map(({ id }) => id), rest];
    };
    expect(await list("")).toEqual([ids, { total: 3, limit: 20, offset: 0 }]);
    expect(await list("?limit=1&offset=1")).toEqual([ids.slice(1, 2), { total: 3, limit: 1, offset: 1 }]);
    const other = await app.request(JOBS_PATH, { key: person.key });
    expect(await other.json()).toMatchObject({ jobs: [], total: 0 });
  });

  test("rejects an invalid limit or offset and unknown parameters", async () => {
    await using app = await openTestApp();
    const { key } = await app.make.person();
    for (const query of ["limit=0", "limit=101", "limit=x", "offset=-1", "limit=1&limit=2", "status=ready"]) {
      const response = await app.request(`${JOBS_PATH}?${query}`, { key });
      expect([query, ...(await errorOf(response))]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });
});

describe("an export job", () => {
  test("is visible only to publishers of its organization, regardless of X-Org-Slug", async () => {
    await using app = await openTestApp();
    const person = await app.make.person({ role: "publisher" });
    const job = await jobOf(await postJob(app, person));
    const ask = (key: string, id = job.id, method = "GET", rest = "") =>
      app.request(`${JOBS_PATH}/${id}${rest}`, {
        key,
        method,
        headers: { "x-org-slug": person.personalOrg.slug },
      });
    expect(await jobOf(await ask(person.key))).toEqual(job);
    const viewer = await app.make.person({ org: person.org, role: "viewer" });
    const robot = await app.make.person({ org: person.org, kind: "automation" });
    const stranger = await app.make.person();
    const bound = await app.make.key({ userId: person.user.id, orgId: person.personalOrg.id });
    const refusals: [string, string, number, string][] = [
      [viewer.key, job.id, 403, "INSUFFICIENT_ORG_ROLE"],
      [robot.key, job.id, 403, "KEY_KIND_FORBIDDEN"],
      [stranger.key, job.id, 404, "EXPORT_JOB_NOT_FOUND"],
      [bound.key, job.id, 404, "EXPORT_JOB_NOT_FOUND"],
      [person.key, crypto.randomUUID(), 404, "EXPORT_JOB_NOT_FOUND"],
      [person.key, "no-id", 404, "EXPORT_JOB_NOT_FOUND"],
    ];
    for (const [key, id, status, code] of refusals) {
      expect(await errorOf(await ask(key, id))).toEqual([status, code]);
      expect(await errorOf(await ask(key, id, "POST", "/cancel"))).toEqual([status, code]);
    }
  });

  test("can be canceled while queued: it becomes failed, its queue entry is removed and an audit entry is written", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const { id } = await jobOf(await postJob(app, person));
    const cancel = () => app.request(`${JOBS_PATH}/${id}/cancel`, { method: "POST", key: person.key });
    const canceled = await jobOf(await cancel());
    expect(canceled).toMatchObject({
      status: "failed",
      errorCode: "CANCELED",
      errorMessage: expect.any(String),
      finishedAt: expect.any(String),
    });
    expect(await listMismatches(app)).toEqual([]);
    expect(await listAudited(app, id)).toMatchObject([
      { action: "export_job.queue" },
      { action: "export_job.cancel" },
    ]);
    expect(await errorOf(await cancel())).toEqual([409, "EXPORT_JOB_FINISHED"]);
    expect((await postJob(app, person)).status).toBe(201);
  });

  test("can be canceled without force while its builder returns the job to the queue", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const { id } = await jobOf(await postJob(app, person));
    await app.db.sql`update export_jobs set status = 'running', attempt = 1 where id = ${id}`;
    const response = await commitDuring(
      app.db,
      (tx) => tx`update export_jobs set status = 'queued', attempt = 0 where id = ${id}`,
      () => cancelJob(app, person.key, id),
    );
    expect(await jobOf(response)).toMatchObject({ status: "failed", errorCode: "CANCELED" });
    expect(await listMismatches(app)).toEqual([]);
  });

  test("can be canceled during its build only with force", async () => {
    await using app = await openTestApp();
    const person = await app.make.person();
    const { id } = await jobOf(await postJob(app, person));
    await app.db
      .sql`update export_jobs set status = 'running', attempt = 1, started_at = now() where id = ${id}`;
    for (const query of ["", "?force=false"]) {
      const response = await cancelJob(app, person.key, id, query);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([409, "EXPORT_JOB_RUNNING"]);
      expect(error.message).toContain("?force=true");
    }
    for (const query of ["?force=yes", "?force", "?forced=true"]) {
      expect(await errorOf(await cancelJob(app, person.key, id, query))).toEqual([400, "VALIDATION_ERROR"]);
    }
    expect(await listMismatches(app)).toEqual([]);
    const canceled = await jobOf(await cancelJob(app, person.key, id, "?force=true"));
    expect(canceled).toMatchObject({
      status: "failed",
      errorCode: "CANCELED",
      errorMessage: "Canceled after its build had begun",
    });
    expect(await listMismatches(app)).toEqual([]);
    const again = await cancelJob(app, person.key, id, "?force=true");
    expect(await errorOf(again)).toEqual([409, "EXPORT_JOB_FINISHED"]);
  });
});
