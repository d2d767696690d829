/** A bucket whose network goes silent during an upload, and then during a download. Needs root. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
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
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { testRequest } from "../helpers/http/app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import { listOpenFiles } from "../helpers/process/open_files.ts";
import { spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LanAddress, openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";

const MIB = 2 ** 20;
const PORT = 3000;
/** More than two parts of an upload, in MiB. At the speed of `MEGABITS`, the upload takes some seconds. */
const NOISE_MIB = 48;
const MEGABITS = 80;

interface SilentBucket extends AsyncDisposable {
  api: Client;
  db: TestDatabase;
  /** The bucket's address, which the test cuts off. */
  bucket: LanAddress;
  /** A member of the exported organization. */
  person: Person;
  /** The data directory of the API and the job runner. */
  dataDir: string;
}

/** Starts a host with an API and a job runner. The bucket responds until its address is cut off. */
async function openSilentBucket(): Promise<SilentBucket> {
  await using opened = new AsyncDisposableStack();
  const lan = opened.use(await openLan());
  const server = opened.use(await startLanPostgres(lan));
  const db = opened.use(await openTestDatabase(server.url));
  await shortenHeartbeats(db, 30);
  const bucket = await lan.addAddress(200);
  const s3 = opened.use(await startS3Server(bucket.address));
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-silent-"));
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
  const api: Client = { request: (path, options) => fetch(testRequest(`${origin}${path}`, options)) };
  const { person, projects } = await makeHeavyOrg({ db, make: createFactory(db.sql) }, 1);
  const [project] = projects;
  if (project) await addNoise(db, project, NOISE_MIB);
  const started = opened.move();
  return {
    api,
    db,
    bucket,
    person,
    dataDir,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

test("while the bucket does not respond, a build waits and a download gets a 503; both succeed once it responds again", async () => {
  await using place = await openSilentBucket();
  const { api, db, person, bucket, dataDir } = place;
  const { id } = await jobOf(await postJob(api, person));
  const show = () => getJob(api, person.key, id);
  await waitFor(async () => (await show()).progress.bytesWritten > 12 * MIB);
  await bucket.cutOff();
  await waitFor(async () => (await show()).waitingFor === "storage");
  expect(await listMismatches({ db })).toEqual([]);
  await bucket.reconnect();
  await waitFor(async () => (await show()).status === "ready");
  const { attempt, artifact } = await show();
  expect(attempt).toBe(1);

  const fetchFile = (headers: Record<string, string> = {}) => downloadJob(api, person.key, id, { headers });
  const spooled = async () => Math.max(0, ...(await listOpenFiles(join(dataDir, "downloads"))).values());
  const download = fetchFile();
  await waitFor(async () => (await spooled()) > 4 * MIB);
  await bucket.cutOff();
  expect((await download).status).toBe(503);
  expect(await spooled()).toBe(0);
  await bucket.reconnect();
  // Later downloads of a range and of the whole file succeed.
  const part = await fetchFile({ range: `bytes=${5 * MIB}-${6 * MIB - 1}` });
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, MIB]);
  const whole = await (await fetchFile()).arrayBuffer();
  expect(new Bun.CryptoHasher("sha256").update(whole).digest("hex")).toBe(artifact?.sha256 ?? "");
});
