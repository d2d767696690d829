/** Downloads of finished exports from a directory: how many run at once, and what ends them. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jobOf, postJob } from "../../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../../helpers/exports/export_project.ts";
import { beginDownload } from "../../../helpers/exports/slow_download.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** More than the sockets on both sides hold by themselves. */
const FILE_BYTES = 24 * 2 ** 20;

/** An export whose file is noise of that length, and its requester. */
async function makeFile({ app, origin }: ListeningApp) {
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const [{ artifactKey }] = await app.db.sql<[{ artifactKey: string }]>`
    update export_jobs set artifact_bytes = ${FILE_BYTES} where id = ${id} returning artifact_key`;
  await writeFile(join(fileURLToPath(app.deps.config.artifactUrl), artifactKey), randomBytes(FILE_BYTES));
  const url = `${origin}/api/v1/export/jobs/${id}/download`;
  return {
    person,
    begin: (key = person.key) => beginDownload(url, { authorization: `Bearer ${key}` }),
    fetch: (key = person.key, headers = {}) =>
      fetch(url, { headers: { authorization: `Bearer ${key}`, ...headers } }),
  };
}

async function codeOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { code: string; details?: unknown } };
  return [response.status, error.code, error.details, response.headers.get("retry-after")];
}

/** Why a download was cut, as the log tells. */
function cutReason({ app }: ListeningApp): Promise<unknown> {
  return waitFor(() => app.logLines.find((line) => line["event"] === "export_job.download_cut")?.["reason"]);
}

test("a user has two concurrent downloads and an organization four; a finished one frees its slot at once", async () => {
  await using server = await openListeningApp();
  const file = await makeFile(server);
  const { org } = file.person;
  const others = await Promise.all([server.app.make.person({ org }), server.app.make.person({ org })]);
  const [second, third] = others.map(({ key }) => key) as [string, string];
  using first = await file.begin();
  using _ = await file.begin();
  expect(await codeOf(await file.fetch())).toEqual([
    ...[429, "RATE_LIMITED", { share: "user", limit: 2 }],
    "5",
  ]);
  using left = await file.begin(second);
  using __ = await file.begin(second);
  expect(await codeOf(await file.fetch(third))).toEqual([
    ...[429, "RATE_LIMITED", { share: "organization", limit: 4 }],
    "5",
  ]);
  // One ends whole, another because its client leaves; and a part of a file is a download like any other.
  expect(await first.readOn()).toMatchObject({ status: 200, isWhole: true });
  const part = await file.fetch(file.person.key, { range: "bytes=0-9" });
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
  left[Symbol.dispose]();
  await waitFor(async () => (await file.fetch(second, { range: "bytes=0-9" })).status === 206);
});

test("a download ends when its caller is no member any more", async () => {
  await using server = await openListeningApp({ streamRules: { accessCheckMs: 100, slowWindowMs: 1200 } });
  const file = await makeFile(server);
  using download = await file.begin();
  const { user, org } = file.person;
  await server.app.db.sql`delete from organization_members where org_id = ${org.id} and user_id = ${user.id}`;
  expect(await cutReason(server)).toBe("access_ended");
  // Bun looks at its connections every four seconds.
  await waitFor(() => server.pending() === 0, 30_000);
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});

test("a download does not outlive EXPORT_STREAM_MAX_MINUTES", async () => {
  await using server = await openListeningApp({ config: { exportStreamMaxMinutes: 0.01 } });
  const file = await makeFile(server);
  using download = await file.begin();
  expect(await cutReason(server)).toBe("lasted_too_long");
  await waitFor(() => server.pending() === 0, 30_000);
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});

test("a download that should long be over is cut once others are refused", async () => {
  await using server = await openListeningApp({
    config: { exportStreamsMax: 1 },
    streamRules: { slowWindowMs: 300, minBytesPerSecond: 100 * 2 ** 20 },
  });
  const file = await makeFile(server);
  const other = await server.app.make.person({ org: file.person.org });
  using download = await file.begin();
  await waitFor(async () => (await file.fetch(other.key, { range: "bytes=0-9" })).status === 206, 30_000);
  expect(await cutReason(server)).toBe("reader_too_slow");
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});
