/** Downloads of finished exports from a local directory: concurrency limits, and reasons for cutting off a download. */
import { expect, test } from "bun:test";
import { makeNoiseFile } from "../../../helpers/exports/noise_file.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

async function codeOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { code: string; details?: unknown } };
  return [response.status, error.code, error.details, response.headers.get("retry-after")];
}

/** Waits until the log reports a cut download, and returns the reason. */
function cutReason({ app }: ListeningApp): Promise<unknown> {
  return waitFor(() => app.logLines.find((line) => line["event"] === "export_job.download_cut")?.["reason"]);
}

test("concurrent downloads are limited to two per user and four per organization, and a finished download frees its slot", async () => {
  await using server = await openListeningApp();
  const file = await makeNoiseFile(server);
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
  // A slot is freed when a download completes or its client disconnects. A range request also needs a slot.
  expect(await first.readOn()).toMatchObject({ status: 200, isWhole: true });
  const part = await file.fetch(file.person.key, { range: "bytes=0-9" });
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
  left[Symbol.dispose]();
  await waitFor(async () => (await file.fetch(second, { range: "bytes=0-9" })).status === 206);
});

test("a download ends when its caller loses membership", async () => {
  await using server = await openListeningApp({ streamRules: { accessCheckMs: 100, slowWindowMs: 1200 } });
  const file = await makeNoiseFile(server);
  using download = await file.begin();
  const { user, org } = file.person;
  await server.app.db.sql`delete from organization_members where org_id = ${org.id} and user_id = ${user.id}`;
  expect(await cutReason(server)).toBe("access_ended");
  // The service closes the connection by setting a timeout. Bun checks timeouts only every four seconds.
  await waitFor(() => server.pending() === 0);
  // Without a TCP reset, the kernel would keep megabytes for the closed connection until the client reads them.
  expect(await download.isHeld()).toBe(false);
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});

test("a download ends after EXPORT_STREAM_MAX_MINUTES", async () => {
  await using server = await openListeningApp({ config: { exportStreamMaxMinutes: 0.01 } });
  const file = await makeNoiseFile(server);
  using download = await file.begin();
  expect(await cutReason(server)).toBe("lasted_too_long");
  await waitFor(() => server.pending() === 0);
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});

test("a stalled download is cut off once another caller is refused", async () => {
  await using server = await openListeningApp({
    config: { exportStreamsMax: 1 },
    streamRules: { slowWindowMs: 300, socketBytes: 0 },
  });
  const file = await makeNoiseFile(server);
  const other = await server.app.make.person({ org: file.person.org });
  using download = await file.begin();
  // The download's slot is released before its connection is closed.
  await waitFor(async () => (await file.fetch(other.key, { range: "bytes=0-9" })).status === 206);
  await waitFor(async () => !(await download.isHeld()));
  expect(await cutReason(server)).toBe("reader_too_slow");
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
});
