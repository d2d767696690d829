/** A bucket whose network goes silent during an upload. Needs root. */
import { expect, test } from "bun:test";
import { listMismatches } from "../helpers/exports/export_job.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { openSilentBucket } from "./silent_bucket.ts";

test("a build whose bucket falls silent in the middle waits for the storage, and is finished when it is back", async () => {
  await using place = await openSilentBucket();
  const { db, bucket } = place;
  const { show, untilReady } = await place.queueExport();
  await waitFor(async () => (await show()).progress.bytesWritten > 12 * 2 ** 20);
  await bucket.cutOff();
  await waitFor(async () => (await show()).waitingFor === "storage");
  expect(await listMismatches({ db })).toEqual([]);
  await bucket.reconnect();
  await untilReady();
  expect(await show()).toMatchObject({ attempt: 1 });
});
