/** The log line and the byte count of a download, however it ends. */
import { expect, test } from "bun:test";
import { makeNoiseFile, NOISE_FILE_BYTES } from "../../helpers/exports/noise_file.ts";
import { type ListeningApp, openListeningApp } from "../../helpers/http/listening_app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const ROUTE = "/api/v1/export/jobs/:job_id/download";

function listLines({ app }: ListeningApp) {
  return app.logLines.filter((line) => line["route"] === ROUTE && line["method"] === "GET");
}

/** Waits until the only download has ended, and returns its log line. */
async function readLine(server: ListeningApp) {
  const [line] = await waitFor(() => (listLines(server).length > 0 ? listLines(server) : null));
  return line;
}

/** Returns the byte count in the metrics. The count may be up to a second old, because scrapes are cached. */
async function countedBytes({ origin }: ListeningApp): Promise<number> {
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  return Number(/export_bytes_total\{kind="organization",format="ndjson"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

test("a complete download is logged with its bytes", async () => {
  await using server = await openListeningApp();
  const file = await makeNoiseFile(server);
  using download = await file.begin();
  // The client has paused, but its kernel acknowledges bytes until the receive buffer is full. The metric counts
  // acknowledged bytes.
  await waitFor(async () => (await countedBytes(server)) > 0);
  expect(listLines(server)).toEqual([]);
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: true });
  const common = { status: 200, exportJobId: file.id, format: "ndjson" };
  expect(await readLine(server)).toMatchObject({ ...common, outcome: "complete", bytes: NOISE_FILE_BYTES });
  await waitFor(async () => (await countedBytes(server)) === NOISE_FILE_BYTES);
});

test("a download of a range is logged as complete with the bytes of the range", async () => {
  await using server = await openListeningApp();
  const file = await makeNoiseFile(server);
  await (await file.fetch(file.person.key, { range: "bytes=0-99" })).arrayBuffer();
  expect(await readLine(server)).toMatchObject({ status: 206, outcome: "complete", bytes: 100 });
  await waitFor(async () => (await countedBytes(server)) === 100);
});

test("a download whose client disconnects is logged as aborted with the bytes that the metrics count", async () => {
  await using server = await openListeningApp();
  const file = await makeNoiseFile(server);
  {
    using _left = await file.begin();
    await waitFor(async () => (await countedBytes(server)) > 0);
  }
  const line = await readLine(server);
  expect(line).toMatchObject({ status: 200, outcome: "aborted" });
  expect(line?.["bytes"]).toBeGreaterThan(0);
  expect(line?.["bytes"]).toBeLessThan(NOISE_FILE_BYTES);
  await waitFor(async () => (await countedBytes(server)) === line?.["bytes"]);
});

test("a download that is cut off is logged with the reason, and not as complete", async () => {
  await using server = await openListeningApp({ config: { exportStreamMaxMinutes: 0.01 } });
  const file = await makeNoiseFile(server);
  using download = await file.begin();
  const line = await readLine(server);
  expect(line).toMatchObject({ status: 200, outcome: "cut", reason: "lasted_too_long" });
  expect(line?.["bytes"]).toBeLessThan(NOISE_FILE_BYTES);
  expect(await download.readOn()).toMatchObject({ isWhole: false });
});
