/** A bucket whose network goes silent during an upload and a download. Needs root. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import {
  type Client,
  downloadJob,
  getJob,
  jobOf,
  listMismatches,
  postJob,
} from "../helpers/exports/export_job.ts";
import { addNoise, type HeavyOrg, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { testRequest } from "../helpers/http/app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LanAddress, openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";

const PORT = 3000;
const MIB = 2 ** 20;
/** More than two parts of an upload, which take some seconds at this speed. */
const NOISE_MIB = 48;
const MEGABITS = 80;

const opened = new AsyncDisposableStack();
let db: TestDatabase;
let bucket: LanAddress;
let dataDir: string;
let api: Client;
let heavy: HeavyOrg;

beforeAll(async () => {
  const lan = opened.use(await openLan());
  const server = opened.use(await startLanPostgres(lan));
  db = opened.use(await openTestDatabase(server.url));
  await shortenHeartbeats(db, 30);
  bucket = await lan.addAddress(200);
  const s3 = opened.use(await startS3Server(bucket.address));
  dataDir = await mkdtemp(join(tmpdir(), "ulr-silent-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const host = await lan.addHost("h1");
  await host.slowDown(MEGABITS);
  const env = { ...s3.env, DATABASE_URL: db.url, DATA_DIR: dataDir, HOST: host.address, PORT: String(PORT) };
  for (const [folder, ready] of [
    ["api", "listening"],
    ["jobs", "working"],
  ] as const) {
    await untilLogged(opened.use(spawnService(folder, env, host.prefix)), ready);
  }
  const origin = `http://${host.address}:${PORT}`;
  api = { request: (path, options) => fetch(testRequest(`${origin}${path}`, options)) };
  heavy = await makeHeavyOrg({ db, make: createFactory(db.sql) }, 1);
  const [project] = heavy.projects;
  if (project) await addNoise(db, project, NOISE_MIB);
});

afterAll(() => opened.disposeAsync(), 30_000);

/** Queues an export of the organization. */
async function queueExport() {
  const { id } = await jobOf(await postJob(api, heavy.person));
  const show = () => getJob(api, heavy.person.key, id);
  return { id, show, untilReady: () => waitFor(async () => (await show()).status === "ready", 120_000) };
}

test("a build whose bucket falls silent in the middle waits for the storage, and is finished when it is back", async () => {
  const { show, untilReady } = await queueExport();
  await waitFor(async () => (await show()).progress.bytesWritten > 12 * MIB);
  await bucket.cutOff();
  await waitFor(async () => (await show()).waitingFor === "storage", 180_000);
  expect(await listMismatches({ db })).toEqual([]);
  await bucket.reconnect();
  await untilReady();
  expect(await show()).toMatchObject({ attempt: 1 });
}, 400_000);

test("a download whose bucket falls silent in the middle is 503, and its next range is read when it is back", async () => {
  const { id, show, untilReady } = await queueExport();
  await untilReady();
  const fetchFile = (headers: Record<string, string> = {}) =>
    downloadJob(api, heavy.person.key, id, { headers });
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
