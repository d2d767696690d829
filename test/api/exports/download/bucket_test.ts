/** Downloads of exports from a real S3-compatible server. */
import { expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import {
  errorOf,
  getJob,
  jobOf,
  listAudited,
  listMismatches,
  postJob,
  unzip,
} from "../../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openListeningApp } from "../../../helpers/http/listening_app.ts";
import { startS3Server } from "../../../helpers/network/s3_server.ts";
import { openSlowProxy } from "../../../helpers/network/slow_proxy.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";
import { listOpenFiles } from "../../../helpers/process/open_files.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const MIB = 1024 * 1024;

/**
 * Opens a listening app with a ready export job and a bucket behind a proxy. If `bytes` is positive, that many random
 * bytes replace the job's file.
 */
async function openWithFile({ bytes = 0 } = {}) {
  await using opened = new AsyncDisposableStack();
  const s3 = opened.use(await startS3Server());
  const proxy = opened.use(await openSlowProxy(s3.config.s3.endpoint));
  const config = { ...s3.config, s3: { ...s3.config.s3, endpoint: proxy.origin } };
  const listening = opened.use(await openListeningApp({ config }));
  const { app, origin } = listening;
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const [{ artifactKey }] = await app.db.sql<[{ artifactKey: string }]>`
    select artifact_key
    from export_jobs
    where id = ${id}`;
  const key = `org/exports/${artifactKey}`;
  if (bytes > 0) {
    const content = randomBytes(bytes);
    await s3.client.write(key, content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    await app.db
      .sql`update export_jobs set artifact_bytes = ${bytes}, artifact_sha256 = ${sha256} where id = ${id}`;
  }
  const url = `${origin}/api/v1/export/jobs/${id}/download`;
  const authorization = `Bearer ${person.key}`;
  const all = opened.move();
  return {
    s3,
    proxy,
    app,
    person,
    id,
    key,
    url,
    authorization,
    fetchFile: (headers: Record<string, string> = {}, method = "GET", signal?: AbortSignal) =>
      fetch(url, { method, headers: { authorization, ...headers }, ...(signal ? { signal } : {}) }),
    /** Counts the open temporary files for exports that are fetched from the bucket. */
    spooled: async () => (await listOpenFiles(join(app.deps.config.dataDir, "downloads"))).size,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

type Place = Awaited<ReturnType<typeof openWithFile>>;

test("an export in a bucket can be downloaded whole and in parts, with a Content-Length", async () => {
  await using place = await openWithFile();
  const { app, person, id, fetchFile } = place;
  const { artifact } = await getJob(app, person.key, id);
  const whole = await fetchFile();
  const bytes = Buffer.from(await whole.arrayBuffer());
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(artifact?.sha256 ?? "");
  expect((await unzip(new Uint8Array(bytes).buffer)).has("manifest.json")).toBe(true);
  const { length } = bytes;
  const etag = `"${artifact?.sha256}"`;
  const expected = { "content-length": String(length), "accept-ranges": "bytes", etag };
  expect(Object.fromEntries(whole.headers)).toMatchObject(expected);
  const head = await fetchFile({}, "HEAD");
  expect([head.status, Object.fromEntries(head.headers)]).toMatchObject([200, expected]);
  for (const [range, first, last] of [
    ["bytes=0-0", 0, 0],
    ["bytes=7-30", 7, 30],
    ["bytes=-5", length - 5, length - 1],
    ["bytes=100-", 100, length - 1],
  ] as const) {
    const part = await fetchFile({ range, "if-range": etag });
    expect([part.status, part.headers.get("content-range"), part.headers.get("content-length")]).toEqual([
      206,
      `bytes ${first}-${last}/${length}`,
      String(last - first + 1),
    ]);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(first, last + 1))).toBe(true);
  }
  expect((await fetchFile({ range: "bytes=1-2", "if-range": '"other"' })).status).toBe(200);
  expect((await fetchFile({ range: `bytes=${length}-` })).status).toBe(416);
});

test("whole and partial responses have a Content-Length and are not chunked", async () => {
  await using place = await openWithFile({ bytes: 3 * MIB });
  for (const [range, bytes] of [
    [undefined, 3 * MIB],
    ["bytes=5-2000004", 2_000_000],
  ] as const) {
    const headers = { authorization: place.authorization, ...(range ? { range } : {}) };
    // Uses `node:http`, because fetch() hides the Transfer-Encoding header.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(place.url, { headers }, resolve).on("error", reject);
    });
    let received = 0;
    for await (const chunk of response) received += (chunk as Buffer).length;
    expect([response.headers["content-length"], received]).toEqual([String(bytes), bytes]);
    expect(response.headers["transfer-encoding"]).toBeUndefined();
  }
});

test("a running download finishes even if its export is deleted", async () => {
  await using place = await openWithFile({ bytes: 40 * MIB });
  const { app, s3, key, id, fetchFile } = place;
  const slow = await fetchFile();
  const reader = slow.body?.getReader();
  let read = (await reader?.read())?.value?.length ?? 0;
  await s3.client.delete(key);
  await app.db.sql`update export_jobs set status = 'expired' where id = ${id}`;
  expect(await errorOf(await fetchFile())).toEqual([410, "EXPORT_EXPIRED"]);
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
    read += next.value.length;
  expect(read).toBe(40 * MIB);
});

test("a bucket error returns 503, and a lost export returns 410 and is logged", async () => {
  await using place = await openWithFile();
  const { app, s3, key, fetchFile } = place;
  await s3.client.delete(key);
  for (const method of ["GET", "HEAD"]) expect((await fetchFile({}, method)).status).toBe(410);
  const { error } = (await (await fetchFile()).json()) as { error: { message: string } };
  expect(error.message).toBe("The file of this export is missing from the storage. Start a new export.");
  expect(app.logLines.some((line) => line["event"] === "export_job.lost")).toBe(true);
  await s3.kill();
  const refused = await fetchFile();
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await errorOf(refused)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(JSON.stringify(app.logLines)).not.toMatch(/X-Amz-Signature/);
});

test("an incomplete export in the bucket is not served", async () => {
  await using place = await openWithFile({ bytes: 2 * MIB });
  await place.s3.client.write(place.key, randomBytes(MIB));
  expect(await errorOf(await place.fetchFile())).toEqual([503, "SERVICE_UNAVAILABLE"]);
});

test("a range request fetches only that range of the export from the bucket", async () => {
  await using place = await openWithFile({ bytes: 20 * MIB });
  const before = place.proxy.returned();
  for (const range of ["bytes=0-999", "bytes=5000000-5000999", "bytes=-1000"]) {
    expect((await (await place.fetchFile({ range })).arrayBuffer()).byteLength).toBe(1000);
  }
  expect(place.proxy.returned() - before).toBeLessThan(20_000);
});

test("a client that disconnects during the fetch ends the request to the bucket and leaves no file behind", async () => {
  await using place = await openWithFile({ bytes: 20 * MIB });
  const { app, proxy, fetchFile, spooled } = place;
  proxy.stall(2 * MIB);
  const leaving = new AbortController();
  const download = fetchFile({}, "GET", leaving.signal);
  await waitFor(async () => (await spooled()) > 0);
  leaving.abort();
  await expect(download).rejects.toThrow();
  await waitFor(() => proxy.connections() === 0);
  await waitFor(async () => (await spooled()) === 0);
  const isDownload = (line: Readonly<Record<string, unknown>>) => String(line["route"]).endsWith("/download");
  const logged = await waitFor(() => app.logLines.find(isDownload));
  expect(logged).toMatchObject({ level: "info", outcome: "aborted" });
});

test("concurrent fetches are limited per user, and a client that disconnects frees its slot", async () => {
  await using place = await openWithFile({ bytes: 20 * MIB });
  const { proxy, fetchFile, spooled } = place;
  proxy.stall(2 * MIB);
  const leaving = new AbortController();
  const downloads = [1, 2].map(() => fetchFile({}, "GET", leaving.signal).catch(() => "left"));
  await waitFor(() => proxy.connections() >= 2);
  const refused = await fetchFile();
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await errorOf(refused)).toEqual([429, "RATE_LIMITED"]);
  leaving.abort();
  expect(await Promise.all(downloads)).toEqual(["left", "left"]);
  await waitFor(async () => (await spooled()) === 0);
  proxy.stall(Number.POSITIVE_INFINITY);
  const whole = await waitFor(async () => {
    const response = await fetchFile();
    return response.status === 200 ? response : null;
  });
  expect((await whole.arrayBuffer()).byteLength).toBe(20 * MIB);
});

test("a fetched file has no name on disk, and its space is freed once the file is sent or the client disconnects", async () => {
  await using place = await openWithFile({ bytes: 20 * MIB });
  const { app, fetchFile, spooled } = place;
  await (await fetchFile()).arrayBuffer();
  await waitFor(async () => (await spooled()) === 0);
  const leaving = new AbortController();
  const begun = await fetchFile({}, "GET", leaving.signal);
  expect([begun.status, await spooled()]).toEqual([200, 1]);
  // The file has no name, so a process killed at this point would leave no file behind.
  expect(await readdir(join(app.deps.config.dataDir, "downloads"))).toEqual([]);
  leaving.abort();
  await waitFor(async () => (await spooled()) === 0);
});

test("an export that does not fit on the disk is refused before it is fetched", async () => {
  await using place = await openWithFile();
  const { app, proxy, id, fetchFile, spooled } = place;
  await app.db.sql`update export_jobs set artifact_bytes = ${2 ** 52} where id = ${id}`;
  const before = proxy.forwarded();
  const refused = await fetchFile();
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await errorOf(refused)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(proxy.forwarded()).toBe(before);
  expect(await spooled()).toBe(0);
  // A small range of the same file fits on the disk.
  expect((await fetchFile({ range: "bytes=0-9" })).status).toBe(206);
});

test("an export that is deleted at the start of its download is reported as expired, not lost", async () => {
  await using place = await openWithFile();
  const { app, s3, proxy, key, id, fetchFile } = place;
  const swept = Promise.withResolvers<void>();
  const arrived = proxy.hold(swept.promise);
  const download = fetchFile();
  // Waits until the service has read the job and requested its file from the bucket.
  await arrived;
  await app.db.sql`update export_jobs set expires_at = now() - interval '1 second' where id = ${id}`;
  await s3.client.delete(key);
  swept.resolve();
  const { error } = (await (await download).json()) as { error: { code: string; message: string } };
  expect(error).toMatchObject({
    code: "EXPORT_EXPIRED",
    message: "The export has expired. Start a new export.",
  });
  expect(app.logLines.some((line) => line["event"] === "export_job.lost")).toBe(false);
});

for (const [what, end, error] of [
  [
    "removing the member",
    ({ app, person: { user, org } }) =>
      app.db.sql`delete from organization_members where user_id = ${user.id} and org_id = ${org.id}`,
    [404, "EXPORT_JOB_NOT_FOUND"],
  ],
  [
    "revoking the key",
    ({ app, person }) => app.db.sql`update api_keys set revoked_at = now() where id = ${person.keyId}`,
    [401, "UNAUTHORIZED"],
  ],
] as const satisfies readonly (readonly [string, (place: Place) => Promise<unknown>, readonly unknown[]])[]) {
  test(`${what} while an export is fetched stops the download`, async () => {
    await using place = await openWithFile({ bytes: MIB });
    const ended = Promise.withResolvers<void>();
    const arrived = place.proxy.hold(ended.promise);
    const download = place.fetchFile();
    // Waits until the service has checked access and requested the file from the bucket.
    await arrived;
    await end(place);
    ended.resolve();
    expect(await errorOf(await download)).toEqual([...error]);
    await waitFor(async () => (await place.spooled()) === 0);
    const audited = (await listAudited(place.app, place.id)) as readonly { action: string }[];
    expect(audited.map(({ action }) => action)).not.toContain("export_job.download");
  });
}

test("downloaded bytes are counted and logged", async () => {
  await using place = await openWithFile({ bytes: MIB });
  await (await place.fetchFile()).arrayBuffer();
  await (await place.fetchFile({ range: "bytes=0-9" })).arrayBuffer();
  const logged = await waitFor(() => {
    const lines = place.app.logLines.filter((line) => String(line["route"]).endsWith("/download"));
    return lines.length === 2 ? lines : null;
  });
  expect(logged.map(({ outcome, bytes }) => [outcome, bytes])).toEqual([
    ["complete", MIB],
    ["complete", 10],
  ]);
  const metrics = await (await place.app.request("/metrics")).text();
  expect(metrics).toContain(`export_bytes_total{kind="organization",format="ndjson"} ${MIB + 10}\n`);
});

test("with a build patience of 0, a job fails once its bucket has failed during three uploads, and the next job succeeds", async () => {
  await using place = await openWithFile();
  const { app, person, s3 } = place;
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app, {
    config: { exportBuildPatienceMinutes: 0 },
    store: (store) => ({
      ...store,
      async write(name, content) {
        async function* padded(): AsyncGenerator<Uint8Array, void, void> {
          for (let count = 0; count < 20; count += 1) yield new Uint8Array(randomBytes(MIB));
          await s3.kill();
          yield* content;
        }
        try {
          return await store.write(name, padded());
        } finally {
          await s3.restart();
        }
      },
    }),
  });
  for (const attempt of [1, 2]) {
    await expect(runner.build(id)).rejects.toThrow("Cannot use the artifact storage");
    expect(await getJob(app, person.key, id)).toMatchObject({ status: "queued", attempt });
  }
  await runner.build(id);
  expect(await getJob(app, person.key, id)).toMatchObject({
    status: "failed",
    errorCode: "ARTIFACT_STORAGE_FAILED",
  });
  expect((await s3.client.list({ prefix: `org/exports/${id}` })).contents ?? []).toEqual([]);
  const next = await jobOf(await postJob(app, person));
  await using working = await openTestRunner(app);
  await working.build(next.id);
  expect(await getJob(app, person.key, next.id)).toMatchObject({ status: "ready" });
  expect(await listMismatches(app)).toEqual([]);
});
