/** Downloads of exports that are kept in a real S3-compatible server. */
import { expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { runCommand } from "../../helpers/command.ts";
import { getJob, jobOf, listMismatches, postJob, refusalOf, unzip } from "../../helpers/export_job.ts";
import { makeExportProject } from "../../helpers/export_project.ts";
import { openTestRunner } from "../../helpers/job_runner.ts";
import { openListeningApp } from "../../helpers/listening_app.ts";
import { startS3Server } from "../../helpers/s3_server.ts";

const MIB = 1024 * 1024;

/** An app behind a socket, on a bucket, and a job whose file is ready: the export, or `bytes` of noise in its place. */
async function openWithFile({ bytes = 0 } = {}) {
  await using opened = new AsyncDisposableStack();
  const s3 = opened.use(await startS3Server());
  const listening = opened.use(await openListeningApp({ config: s3.config }));
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
    ...{ s3, app, person, id, key, url, authorization },
    fetchFile: (headers: Record<string, string> = {}, method = "GET") =>
      fetch(url, { method, headers: { authorization, ...headers } }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

test("an export in a bucket downloads whole and in parts, with its length on the wire", async () => {
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

test("curl sees Content-Length and no chunks, of the whole and of a part", async () => {
  await using place = await openWithFile({ bytes: 3 * MIB });
  for (const [range, bytes] of [
    [[], 3 * MIB],
    [["--range", "5-2000004"], 2_000_000],
  ] as const) {
    const command = [
      "curl",
      "-s",
      "-D",
      "-",
      "-o",
      "/dev/null",
      "-H",
      `Authorization: ${place.authorization}`,
    ];
    const { stdout } = await runCommand([...command, ...range, "-w", "%{size_download}", place.url]);
    expect(stdout.toLowerCase()).toContain(`\r\ncontent-length: ${bytes}\r\n`);
    expect(stdout.toLowerCase()).not.toContain("transfer-encoding");
    expect(stdout).toEndWith(`\r\n${bytes}`);
  }
});

test("a download that has begun finishes, though its export is removed meanwhile", async () => {
  await using place = await openWithFile({ bytes: 40 * MIB });
  const { app, s3, key, id, fetchFile } = place;
  const slow = await fetchFile();
  const reader = slow.body?.getReader();
  let read = (await reader?.read())?.value?.length ?? 0;
  await s3.client.delete(key);
  await app.db.sql`update export_jobs set status = 'expired' where id = ${id}`;
  expect(await refusalOf(await fetchFile())).toEqual([410, "EXPORT_EXPIRED"]);
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
    read += next.value.length;
  expect(read).toBe(40 * MIB);
});

test("a bucket that fails is 503 and an export that it has lost 410, and the log says so", async () => {
  await using place = await openWithFile();
  const { app, s3, key, fetchFile } = place;
  await s3.client.delete(key);
  for (const method of ["GET", "HEAD"]) expect((await fetchFile({}, method)).status).toBe(410);
  const { error } = (await (await fetchFile()).json()) as { error: { message: string } };
  expect(error.message).toBe(
    "Cannot download the export: its file is gone from the storage; queue a new one",
  );
  expect(app.logLines.some((line) => line["event"] === "export_job.lost")).toBe(true);
  await s3.kill();
  const refused = await fetchFile();
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refusalOf(refused)).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect(JSON.stringify(app.logLines)).not.toMatch(/X-Amz-Signature/);
});

test("a bucket that has a part of an export is never taken for one that has the whole", async () => {
  await using place = await openWithFile({ bytes: 2 * MIB });
  await place.s3.client.write(place.key, randomBytes(MIB));
  expect(await refusalOf(await place.fetchFile())).toEqual([503, "SERVICE_UNAVAILABLE"]);
});

test("the bytes of downloads are counted, and the log has them", async () => {
  await using place = await openWithFile({ bytes: MIB });
  await (await place.fetchFile()).arrayBuffer();
  await (await place.fetchFile({ range: "bytes=0-9" })).arrayBuffer();
  const metrics = await (await place.app.request("/metrics")).text();
  expect(metrics).toContain(`export_bytes_total{kind="organization",format="ndjson"} ${MIB + 10}\n`);
  const logged = place.app.logLines.filter((line) => String(line["route"]).endsWith("/download"));
  expect(logged.map((line) => line["bytes"])).toEqual([MIB, 10]);
});

test("a bucket that dies in the middle of three uploads fails the job, and the next job works", async () => {
  await using place = await openWithFile();
  const { app, person, s3 } = place;
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app, {
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
