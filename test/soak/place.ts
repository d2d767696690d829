/** The service as it runs in a soak: two API processes, two job runners, all that is around them, and a fresh account. */
import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import type { Supervisor } from "../../deploy/local/supervisor.ts";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { testRequest } from "../helpers/http/app.ts";
import type { MailServer } from "../helpers/network/mail_server.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import type { OwnServer } from "../helpers/postgres/own_server.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { AbuseLedger } from "./books/abuse_ledger.ts";
import { DefinitionBook } from "./books/definition_book.ts";
import { ExecutionBook } from "./books/execution_book.ts";
import { ExportBook } from "./books/export_book.ts";
import { JobBook } from "./books/job_book.ts";
import { KeyBook } from "./books/key_book.ts";
import { LatencyLedger } from "./books/latency_ledger.ts";
import { syncOnce } from "./catalog_syncs.ts";
import { SOAK_STREAMS_MAX } from "./checks/connections.ts";
import type { Targets } from "./faults.ts";
import { Findings } from "./findings.ts";
import type { SoakOptions } from "./options.ts";
import { Outages } from "./outages.ts";
import { Service } from "./service.ts";
import type { Books, Soak } from "./soak.ts";
import { Tally } from "./tally.ts";
import { makeWorld } from "./world.ts";

/** Instead of 20 s: a run is short, and dead runners are many. */
const HEARTBEAT_SECONDS = 6;
const CATALOG_TIMEOUT_MS = 60_000;
/**
 * Every client is somebody else, with addresses of their own, and keeps to the limits as they are by default. Only few
 * accounts sign in and few organizations queue exports, so these do it more often than they otherwise might.
 */
const SETTINGS = {
  TRUST_PROXY: "true",
  EXPORT_STREAMS_MAX: String(SOAK_STREAMS_MAX),
  RATE_LIMIT_LOGIN_PER_MINUTE: "60",
  EXPORT_JOBS_PER_HOUR: "100000",
};

export interface Place {
  soak: Soak;
  server: OwnServer;
  mailServer: MailServer;
  targets: Targets;
  services: readonly Service[];
  /** Ends the load. */
  end: AbortController;
}

export interface PlaceOptions {
  options: SoakOptions;
  db: TestDatabase;
  mailServer: MailServer;
  server: OwnServer;
  /** Ends the processes. */
  supervisor: Supervisor;
}

/** Starts the processes and makes the world that clients find. */
export async function openPlace(given: PlaceOptions): Promise<Place> {
  const { options, db, mailServer, server } = given;
  await requireFsync(db);
  await shortenHeartbeats(db, HEARTBEAT_SECONDS);
  const dataDir = join(server.directory, "service");
  mkdirSync(dataDir);
  const { apis, runners } = await startServices(given, dataDir);
  // The first of each is killed in turn. The second lives through all of it, long enough to show that it does not grow.
  const [[api], [runner]] = [apis, runners];
  const world = await makeWorld(
    db,
    {
      request: (path, request) => fetch(testRequest(`${api.url}${path}`, request)),
    },
    options.clients,
  );
  await syncOnce({ databaseUrl: db.url, dataDir }, 0);
  // Each process asks for a new catalog every few seconds.
  for (const { url } of apis) await waitFor(async () => hasModels(url), CATALOG_TIMEOUT_MS);
  const end = new AbortController();
  const soak: Soak = {
    options,
    db,
    dataDir,
    world,
    apis,
    runners,
    books: openBooks(),
    outages: new Outages(),
    findings: new Findings(),
    tally: new Tally(),
    latencies: new LatencyLedger(),
    abuse: new AbuseLedger(),
    // Dead credentials are tried, which count against the address that they come from.
    sender: { kind: "check", nextAddress: () => `203.0.113.${randomInt(1, 255)}` },
    over: end.signal,
  };
  const services = [...apis, ...runners];
  return { soak, server, mailServer, targets: { server, api, runner }, services, end };
}

async function hasModels(url: string): Promise<boolean> {
  const response = await fetch(`${url}/api/v1/models?limit=1`);
  const { data } = (await response.json()) as { data?: { models: unknown[] } };
  return data !== undefined && data.models.length > 0;
}

/** Killed processes lose nothing that the system has; but a recovery that is to be trusted is one of a server with fsync. */
async function requireFsync({ sql }: TestDatabase): Promise<void> {
  const [row] = await sql<[{ fsync: string }]>`show fsync`;
  if (row.fsync !== "on") throw new Error("Cannot soak: the server runs without fsync");
}

type Pair = [Service, Service];

async function startServices(
  { db, mailServer, supervisor }: PlaceOptions,
  dataDir: string,
): Promise<{ apis: Pair; runners: Pair }> {
  const env = { ...SETTINGS, DATABASE_URL: db.url, DATA_DIR: dataDir, EXPORT_SWEEP_CRON: "* * * * *" };
  const startApi = async (name: string) => {
    const own = { ...env, PORT: String(await chooseFreePort("127.0.0.1")) };
    const api = new Service({ name, folder: "api", readyMessage: "listening", env: own, supervisor });
    await api.start();
    return api;
  };
  const startRunner = async (name: string) => {
    const own = { ...env, SMTP_URL: mailServer.url };
    const runner = new Service({ name, folder: "jobs", readyMessage: "working", env: own, supervisor });
    await runner.start();
    return runner;
  };
  return {
    apis: [await startApi("api-1"), await startApi("api-2")],
    runners: [await startRunner("runner-1"), await startRunner("runner-2")],
  };
}

function openBooks(): Books {
  return {
    definitions: new DefinitionBook(),
    executions: new ExecutionBook(),
    exports: new ExportBook(),
    jobs: new JobBook(),
    keys: new KeyBook(),
  };
}
