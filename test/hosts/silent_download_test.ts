/** A bucket whose network goes silent during a download. Needs root. */
import { expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { downloadJob } from "../helpers/exports/export_job.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { openSilentBucket } from "./silent_bucket.ts";

const MIB = 2 ** 20;

test("a download whose bucket falls silent in the middle is 503, and its next range is read when it is back", async () => {
  await using place = await openSilentBucket();
  const { api, person, bucket, dataDir } = place;
  const { id, show, untilReady } = await place.queueExport();
  await untilReady();
  const fetchFile = (headers: Record<string, string> = {}) => downloadJob(api, person.key, id, { headers });
  const spooled = async () => {
    const folder = join(dataDir, "downloads");
    const names = await readdir(folder).catch(() => []);
    const sizes = names.map(async (name) => (await stat(join(folder, name)).catch(() => null))?.size ?? 0);
    return Math.max(0, ...(await Promise.all(sizes)));
  };
  const download = fetchFile();
  await waitFor(async () => (await spooled()) > 4 * MIB);
  await bucket.cutOff();
  expect((await download).status).toBe(503);
  expect(await spooled()).toBe(0);
  await bucket.reconnect();
  const range = { first: 5 * MIB, last: 6 * MIB - 1 };
  const part = await fetchFile({ range: `bytes=${range.first}-${range.last}` });
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, MIB]);
  const whole = await fetchFile();
  const hasher = new Bun.CryptoHasher("sha256").update(await whole.arrayBuffer());
  expect(hasher.digest("hex")).toBe((await show()).artifact?.sha256 ?? "");
});
