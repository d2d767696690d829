import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, rename, rmdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { downloadJob, errorOf, jobOf, postJob, storedFiles } from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";
import { restoreElsewhere } from "../../helpers/postgres/database.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";

/** Opens a listening app with a job whose file is ready. */
async function openWithFile() {
  const listening = await openListeningApp();
  const { app, origin } = listening;
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const fetchFile = (headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${origin}/api/v1/export/jobs/${id}/download`, {
      method,
      headers: { authorization: `Bearer ${person.key}`, ...headers },
    });
  return { listening, app, person, id, fetchFile };
}

test("a download returns the file with its length, its digest and the headers of file endpoints", async () => {
  const { listening, app, person, id, fetchFile } = await openWithFile();
  await using _listening = listening;
  const { job } = (await (await app.request(`/api/v1/export/jobs/${id}`, { key: person.key })).json()) as {
    job: Awaited<ReturnType<typeof jobOf>>;
  };
  const response = await fetchFile();
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest();
  expect(response.status).toBe(200);
  expect(job.artifact).toMatchObject({ bytes: bytes.length, sha256: sha256.toString("hex") });
  const expected = {
    "accept-ranges": "bytes",
    "cache-control": "no-store",
    "content-length": String(bytes.length),
    "content-type": "application/zip",
    etag: `"${sha256.toString("hex")}"`,
    "repr-digest": `sha-256=:${sha256.toString("base64")}:`,
    "x-export-as-of": job.asOf,
    "x-export-total-rows": String(job.progress.rowsWritten),
  };
  expect(Object.fromEntries(response.headers)).toMatchObject(expected);
  expect(response.headers.get("content-disposition")).toBe(
    `attachment; filename="${job.artifact?.fileName}"; filename*=UTF-8''${job.artifact?.fileName}`,
  );
  const head = await fetchFile({ range: "bytes=0-1" }, "HEAD");
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(Object.fromEntries(head.headers)).toMatchObject(expected);
});

test("Range and If-Range select a part of the file, and a range beyond the file's end returns 416", async () => {
  const { listening, fetchFile } = await openWithFile();
  await using _listening = listening;
  const whole = await fetchFile();
  const etag = whole.headers.get("etag") ?? "";
  const bytes = Buffer.from(await whole.arrayBuffer());
  const size = bytes.length;
  const parts: [Record<string, string>, [number, number] | null][] = [
    [{ range: "bytes=0-0" }, [0, 0]],
    [{ range: "bytes=10-19" }, [10, 19]],
    [{ range: "bytes=100-" }, [100, size - 1]],
    [{ range: "bytes=-7" }, [size - 7, size - 1]],
    [{ range: `bytes=5-${size * 2}` }, [5, size - 1]],
    [{ range: `bytes=-${size * 2}` }, [0, size - 1]],
    [{ range: "bytes=10-19", "if-range": etag }, [10, 19]],
    [{ range: "bytes=10-19", "if-range": '"another"' }, null],
    [{ range: "bytes=10-19", "if-range": `W/${etag}` }, null],
    [{ range: "bytes=9-3" }, null],
    [{ range: "bytes=0-1,4-5" }, null],
    [{ range: "bytes=x-" }, null],
    [{ range: "lines=0-1" }, null],
  ];
  for (const [headers, part] of parts) {
    const response = await fetchFile(headers);
    const [first, last] = part ?? [0, size - 1];
    expect([headers, response.status, response.headers.get("content-range")]).toEqual([
      headers,
      part ? 206 : 200,
      part ? `bytes ${first}-${last}/${size}` : null,
    ]);
    expect(response.headers.get("content-length")).toBe(String(last - first + 1));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes.subarray(first, last + 1));
  }
  for (const range of [`bytes=${size}-`, "bytes=-0"]) {
    const response = await fetchFile({ range });
    expect(response.headers.get("content-range")).toBe(`bytes */${size}`);
    expect(await errorOf(response)).toEqual([416, "RANGE_NOT_SATISFIABLE"]);
  }
});

test("only members can download, with a user key or a session", async () => {
  const { listening, app, person, id } = await openWithFile();
  await using _listening = listening;
  const viewer = await app.make.person({ org: person.org, role: "viewer" });
  const { token } = await app.make.session({ userId: viewer.user.id });
  for (const credential of [viewer.key, token]) {
    expect((await downloadJob(app, credential, id)).status).toBe(200);
  }
  const robot = await app.make.person({ org: person.org, kind: "system" });
  const stranger = await app.make.person();
  expect(await errorOf(await downloadJob(app, robot.key, id))).toEqual([403, "KEY_KIND_FORBIDDEN"]);
  expect(await errorOf(await downloadJob(app, stranger.key, id))).toEqual([404, "EXPORT_JOB_NOT_FOUND"]);
});

test("a download refuses query parameters that other exports accept", async () => {
  const { listening, app, person, id } = await openWithFile();
  await using _listening = listening;
  const response = await app.request(`/api/v1/export/jobs/${id}/download?format=csv`, { key: person.key });
  expect(await errorOf(response)).toEqual([400, "VALIDATION_ERROR"]);
});

test("a job that is not ready, has failed or has expired cannot be downloaded", async () => {
  const { listening, app, person, id } = await openWithFile();
  await using _listening = listening;
  await app.db.sql`update export_jobs set expires_at = now() - interval '1 second' where id = ${id}`;
  const download = (jobId: string) => downloadJob(app, person.key, jobId);
  expect(await errorOf(await download(id))).toEqual([410, "EXPORT_EXPIRED"]);
  await app.db.sql`update export_jobs set status = 'expired' where id = ${id}`;
  expect(await errorOf(await download(id))).toEqual([410, "EXPORT_EXPIRED"]);
  const next = await jobOf(await postJob(app, person));
  const early = await download(next.id);
  expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await errorOf(early)).toEqual([409, "EXPORT_NOT_READY"]);
  await app.request(`/api/v1/export/jobs/${next.id}/cancel`, { method: "POST", key: person.key });
  expect(await errorOf(await download(next.id))).toEqual([409, "EXPORT_JOB_FAILED"]);
});

test("a download returns 503 while the artifact volume is not mounted, and 410 if only the file is missing", async () => {
  const { listening, app, fetchFile } = await openWithFile();
  await using _listening = listening;
  const mounted = fileURLToPath(app.deps.config.artifactUrl);
  await rename(mounted, `${mounted}-away`);
  await mkdir(mounted);
  for (const method of ["GET", "HEAD"]) expect((await fetchFile({}, method)).status).toBe(503);
  const refused = await fetchFile();
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(await errorOf(refused)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(app.logLines.some(({ event }) => event === "export_job.lost")).toBe(false);
  await rmdir(mounted);
  await rename(`${mounted}-away`, mounted);
  expect((await fetchFile()).status).toBe(200);
  for (const name of await storedFiles(app)) await Bun.file(`${mounted}/${name}`).delete();
  expect(await errorOf(await fetchFile())).toEqual([410, "EXPORT_EXPIRED"]);
});

test("after a database restore with a new, empty store, downloads return 410 and the service stays ready", async () => {
  const { listening, app, fetchFile } = await openWithFile();
  await using _listening = listening;
  await restoreElsewhere(app.db);
  const directory = fileURLToPath(app.deps.config.artifactUrl);
  await rename(directory, `${directory}-original`);
  await mkdir(directory);
  expect(await errorOf(await fetchFile())).toEqual([410, "EXPORT_EXPIRED"]);
  expect(await (await app.request("/health/ready")).json()).toEqual({ data: { status: "ready" } });
});
