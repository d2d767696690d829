/** A host with an API and a job runner whose bucket can fall silent, and an organization to export. Needs root. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExportJob } from "../../api/exports/export_job.ts";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { type Client, getJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { testRequest } from "../helpers/http/app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import { spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LanAddress, openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";

const PORT = 3000;
/** More than two parts of an upload, which take some seconds at this speed. */
const NOISE_MIB = 48;
const MEGABITS = 80;

export interface QueuedExport {
  id: string;
  show(): Promise<ExportJob>;
  untilReady(): Promise<boolean>;
}

export interface SilentBucket extends AsyncDisposable {
  api: Client;
  db: TestDatabase;
  /** The bucket's address. */
  bucket: LanAddress;
  person: Person;
  /** Of the API and the job runner. */
  dataDir: string;
  /** Queues an export of the organization. */
  queueExport(): Promise<QueuedExport>;
}

/** Starts everything. The bucket responds until its address is cut off. */
export async function openSilentBucket(): Promise<SilentBucket> {
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
    async queueExport() {
      const { id } = await jobOf(await postJob(api, person));
      const show = () => getJob(api, person.key, id);
      return { id, show, untilReady: () => waitFor(async () => (await show()).status === "ready") };
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
