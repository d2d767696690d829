/** Callers and requests that the export job endpoints refuse. */
import { expect, test } from "bun:test";
import { lockDueOrg, markOrgDeleted } from "../../../../sql/accounts/organization_deletion.ts";
import { errorOf, JOBS_PATH, jobOf, postJob } from "../../../helpers/exports/export_job.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const PAST = "2026-01-01T00:00:00.000Z";

/** The status and error code of a response. */
type Verdict = readonly [number, string | undefined];
/** The verdicts of the endpoints, in this order: queue, list, show, cancel, download. */
type Verdicts = readonly [Verdict, Verdict, Verdict, Verdict, Verdict];

/** Calls every endpoint for a job of the organization. Returns the verdicts. */
async function askAll(
  app: TestApp,
  given: { key?: string; slug?: string; jobId: string },
): Promise<Verdict[]> {
  const path = `${JOBS_PATH}/${given.jobId}`;
  const endpoints = [
    ["POST", JOBS_PATH],
    ["GET", JOBS_PATH],
    ["GET", path],
    ["POST", `${path}/cancel`],
    ["GET", `${path}/download`],
  ] as const;
  const verdicts: Verdict[] = [];
  for (const [method, url] of endpoints) {
    const response = await app.request(url, {
      method,
      ...(given.key === undefined ? {} : { key: given.key }),
      headers: given.slug === undefined ? {} : { "x-org-slug": given.slug },
    });
    verdicts.push(await errorOf(response));
  }
  return verdicts;
}

function everywhere(status: number, code: string): Verdicts {
  const verdict = [status, code] as const;
  return [verdict, verdict, verdict, verdict, verdict];
}

const ALLOWED: Verdict = [200, undefined];
const NOT_READY: Verdict = [409, "EXPORT_NOT_READY"];
const RUNNING: Verdict = [409, "EXPORT_JOB_RUNNING"];
const NO_JOB: Verdict = [404, "EXPORT_JOB_NOT_FOUND"];

/**
 * Opens an app with a job that is being built. The job cannot be canceled or downloaded. Queueing the export again
 * returns the same job.
 */
async function openWithJob(): Promise<{ app: TestApp; person: Person; jobId: string }> {
  const app = await openTestApp();
  const person = await app.make.person({ role: "publisher" });
  const { id } = await jobOf(await postJob(app, person));
  await app.db.sql`update export_jobs set status = 'running', attempt = 1 where id = ${id}`;
  return { app, person, jobId: id };
}

test("invalid credentials are rejected by every endpoint", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const userId = person.user.id;
  const revoked = await app.make.key({ userId, kind: "user", scope: "write", revokedAt: PAST });
  const expired = await app.make.key({ userId, kind: "user", scope: "write", expiresAt: PAST });
  const session = await app.make.session({ userId, expiresAt: PAST });
  for (const key of [undefined, "ulr_unknown", revoked.key, expired.key, session.token]) {
    const given = { slug: person.org.slug, jobId, ...(key === undefined ? {} : { key }) };
    expect(await askAll(app, given)).toEqual([...everywhere(401, "UNAUTHORIZED")]);
  }
});

test("each endpoint refuses callers whose role, kind of key or scope is insufficient", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const { org } = person;
  const tooLow: Verdict = [403, "INSUFFICIENT_ORG_ROLE"];
  const noScope: Verdict = [403, "INSUFFICIENT_SCOPE"];
  const callers: [Person, Verdicts][] = [
    [person, [ALLOWED, ALLOWED, ALLOWED, RUNNING, NOT_READY]],
    [await app.make.person({ org, role: "viewer" }), [tooLow, tooLow, tooLow, tooLow, NOT_READY]],
    [await app.make.person({ org, kind: "automation" }), everywhere(403, "KEY_KIND_FORBIDDEN")],
    [await app.make.person({ org, kind: "system" }), everywhere(403, "KEY_KIND_FORBIDDEN")],
    [await app.make.person({ org, scope: "read" }), [noScope, ALLOWED, ALLOWED, noScope, NOT_READY]],
  ];
  for (const [{ key }, verdicts] of callers) {
    expect(await askAll(app, { key, slug: org.slug, jobId })).toEqual([...verdicts]);
  }
});

test("other organizations' jobs are indistinguishable from missing jobs, regardless of X-Org-Slug", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const stranger = await app.make.person();
  const denied: Verdict = [403, "ORG_ACCESS_DENIED"];
  for (const slug of [person.org.slug, "no-such-organization"]) {
    const verdicts = await askAll(app, { key: stranger.key, slug, jobId });
    expect(verdicts).toEqual([denied, denied, NO_JOB, NO_JOB, NO_JOB]);
  }
  // Requests for a single job ignore X-Org-Slug, even if the slug is unknown.
  for (const slug of [person.personalOrg.slug, stranger.org.slug, "no-such-organization"]) {
    const [, , ...ofTheJob] = await askAll(app, { key: person.key, slug, jobId });
    expect(ofTheJob).toEqual([ALLOWED, RUNNING, NOT_READY]);
  }
});

test("automation and system keys get 403 for their owner's jobs and 404 for all other jobs", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const stranger = await app.make.person();
  for (const kind of ["automation", "system"] as const) {
    const own = await app.make.key({ userId: person.user.id, kind });
    const foreign = await app.make.key({ userId: stranger.user.id, kind });
    const nothing = crypto.randomUUID();
    for (const [key, id, verdict] of [
      [own.key, jobId, [403, "KEY_KIND_FORBIDDEN"]],
      [own.key, nothing, NO_JOB],
      [foreign.key, jobId, NO_JOB],
      [foreign.key, nothing, NO_JOB],
    ] as const) {
      const [, , ...ofTheJob] = await askAll(app, { key, jobId: id });
      expect(ofTheJob).toEqual([verdict, verdict, verdict]);
    }
  }
});

test("a bound key works only for its organization", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const userId = person.user.id;
  const bind = async (orgId: string) =>
    (await app.make.key({ userId, orgId, kind: "user", scope: "write" })).key;
  const [inside, outside] = [await bind(person.org.id), await bind(person.personalOrg.id)];
  const denied: Verdict = [403, "ORG_ACCESS_DENIED"];
  expect(await askAll(app, { key: inside, jobId })).toEqual([ALLOWED, ALLOWED, ALLOWED, RUNNING, NOT_READY]);
  expect(await askAll(app, { key: inside, slug: person.personalOrg.slug, jobId })).toEqual([
    ...[denied, denied],
    ...[ALLOWED, RUNNING, NOT_READY],
  ]);
  expect(await askAll(app, { key: outside, slug: person.org.slug, jobId })).toEqual([
    ...[denied, denied],
    ...[NO_JOB, NO_JOB, NO_JOB],
  ]);
});

test("without X-Org-Slug, the request uses the personal organization, whose free plan has no exports", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const [queued, listed] = await askAll(app, { key: person.key, jobId });
  expect([queued, listed]).toEqual([[402, "SUBSCRIPTION_REQUIRED"], ALLOWED]);
});

test("an organization that has stopped paying keeps its queued jobs, but cannot queue more", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  await app.db.sql`update organizations set subscription_tier = 'free' where id = ${person.org.id}`;
  expect(await askAll(app, { key: person.key, slug: person.org.slug, jobId })).toEqual([
    [402, "SUBSCRIPTION_REQUIRED"],
    ...[ALLOWED, ALLOWED, RUNNING, NOT_READY],
  ]);
});

test("a former member cannot see the organization's jobs", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  await app.db
    .sql`delete from organization_members where user_id = ${person.user.id} and org_id = ${person.org.id}`;
  const [, , ...ofTheJob] = await askAll(app, { key: person.key, jobId });
  expect(ofTheJob).toEqual([NO_JOB, NO_JOB, NO_JOB]);
});

test("an invalid or future as_of is rejected, and no job is queued", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const instants = [
    "",
    " ",
    "now",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-02-30T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "2026-01-01T00:00:00+25:00",
    "2026-01-01T00:00:00Z'; drop table export_jobs",
    new Date(Date.now() + 60_000).toISOString(),
    "9999-12-31T23:59:59.999Z",
    1_767_225_600_000,
    true,
    ["2026-01-01T00:00:00Z"],
    { at: "2026-01-01T00:00:00Z" },
  ];
  for (const asOf of instants) {
    const response = await postJob(app, person, { as_of: asOf });
    const { error } = (await response.json()) as { error: { code: string; details: unknown } };
    expect([asOf, response.status, error.code]).toEqual([asOf, 400, "VALIDATION_ERROR"]);
    expect(error.details).toMatchObject({ errors: [{ path: "as_of" }] });
  }
  expect((await app.db.sql`select id from export_jobs`).length).toBe(0);
});

test("an invalid format or flag is rejected, and the error names the parameter", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const wrong = ["true", "", 0, 1, null, [], {}];
  for (const name of [
    "format",
    "include_deleted",
    "include_archived",
    "include_superseded",
    "include_resolved",
  ]) {
    for (const value of name === "format" ? [...wrong, "NDJSON", "zip", true] : wrong) {
      const response = await postJob(app, person, { [name]: value });
      const { error } = (await response.json()) as { error: { details: unknown } };
      expect([name, value, response.status]).toEqual([name, value, 400]);
      expect(error.details).toMatchObject({ errors: [{ path: name }] });
    }
  }
});

test("options in the query are refused instead of ignored", async () => {
  await using app = await openTestApp();
  const { key, org } = await app.make.person();
  for (const query of ["format=csv", "include_deleted=true&format=csv", "as_of=", "org=other"]) {
    const headers = { "x-org-slug": org.slug };
    const response = await app.request(`${JOBS_PATH}?${query}`, { method: "POST", key, headers, body: {} });
    const { error } = (await response.json()) as { error: { code: string; details: unknown } };
    expect([query, response.status, error.code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    const paths = [...new URLSearchParams(query).keys()];
    expect(error.details).toMatchObject({ errors: paths.map((path) => ({ path })) });
  }
  expect((await app.db.sql`select id from export_jobs`).length).toBe(0);
});

test("bodies that are not JSON objects or are too large are rejected, and an empty body is accepted", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const post = (body: string, type = "application/json") =>
    postJob(app, person, body, { "content-type": type });
  for (const body of ["{", "null, 1", '"ndjson"', "[]", "1"]) {
    expect(await errorOf(await post(body))).toEqual([400, "VALIDATION_ERROR"]);
  }
  expect(await errorOf(await post("format=csv", "application/x-www-form-urlencoded"))).toEqual([
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ]);
  const large = JSON.stringify({ format: "ndjson", padding: "x".repeat(2 ** 20) });
  expect(await errorOf(await post(large))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  for (const body of ["", "{}"]) expect([200, 201]).toContain((await post(body)).status);
});

test("a finished job cannot be canceled, whether ready, expired or failed", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const ends = {
    ready: app.db.sql`
      status = 'ready', ready_at = now(), expires_at = now() + interval '1 hour', finished_at = now(),
      artifact_key = 'x', artifact_file_name = 'x.zip', artifact_bytes = 1, artifact_sha256 = ${"0".repeat(64)}`,
    expired: app.db.sql`status = 'expired'`,
    failed: app.db.sql`status = 'failed', error_code = 'BUILD_FAILED', error_message = 'It failed'`,
  };
  for (const end of Object.values(ends)) {
    await app.db.sql`update export_jobs set ${end} where id = ${jobId}`;
    const [row] = await app.db.sql`select to_jsonb(j) as row from export_jobs as j where id = ${jobId}`;
    const cancel = await app.request(`${JOBS_PATH}/${jobId}/cancel`, { method: "POST", key: person.key });
    expect(await errorOf(cancel)).toEqual([409, "EXPORT_JOB_FINISHED"]);
    const [after] = await app.db.sql`select to_jsonb(j) as row from export_jobs as j where id = ${jobId}`;
    expect(after).toEqual(row);
  }
});

test("downloading a running job returns 409 with the time to wait", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  for (const method of ["GET", "HEAD"]) {
    const response = await app.request(`${JOBS_PATH}/${jobId}/download`, { method, key: person.key });
    expect(response.status).toBe(409);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  }
});

test("unsupported methods are refused with a list of the supported methods", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const paths: [string, string, string][] = [
    ["DELETE", JOBS_PATH, "POST"],
    ["DELETE", `${JOBS_PATH}/${jobId}`, "GET"],
    ["GET", `${JOBS_PATH}/${jobId}/cancel`, "POST"],
    ["POST", `${JOBS_PATH}/${jobId}/download`, "GET"],
  ];
  for (const [method, path, allowed] of paths) {
    const response = await app.request(path, { method, key: person.key });
    expect(response.headers.get("allow")?.split(", ")).toContain(allowed);
    expect(await errorOf(response)).toEqual([405, "METHOD_NOT_ALLOWED"]);
  }
});

test("a request for one job rejects query parameters only if the caller may see the job", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const stranger = await app.make.person({ role: "publisher" });
  const ask = async (key: string) => errorOf(await app.request(`${JOBS_PATH}/${jobId}?force=true`, { key }));
  expect(await ask(person.key)).toEqual([400, "VALIDATION_ERROR"]);
  expect(await ask(stranger.key)).toEqual([...NO_JOB]);
});

test("canceling a job during the deletion of its organization returns 404 and does not deadlock", async () => {
  const { app, person, jobId } = await openWithJob();
  await using _app = app;
  const orgId = person.org.id;
  await app.db.sql`update organizations set deletes_at = now() where id = ${orgId}`;
  const cancel = await app.db.sql.begin(async (tx) => {
    await lockDueOrg(tx);
    const response = app.request(`${JOBS_PATH}/${jobId}/cancel?force=true`, {
      method: "POST",
      key: person.key,
    });
    await waitFor(async () => {
      const waiting = await app.db.admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await markOrgDeleted(tx, orgId);
    return { response };
  });
  expect(await errorOf(await cancel.response)).toEqual(NO_JOB as [number, string]);
  const jobs = await app.db.sql`select error_code from export_jobs where id = ${jobId}`;
  expect([...jobs]).toEqual([{ errorCode: "ORGANIZATION_GONE" }]);
});
