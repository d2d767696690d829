/** Starts the service for a soak: two API processes and two job runners on a new database. */
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
import { syncOnce } from "./catalog_syncs.ts";
import { SOAK_STREAMS_MAX } from "./checks/connections.ts";
import type { Targets } from "./faults.ts";
import { Findings } from "./findings.ts";
import { AbuseLedger } from "./ledgers/abuse_ledger.ts";
import { DefinitionLedger } from "./ledgers/definition_ledger.ts";
import { ExecutionLedger } from "./ledgers/execution_ledger.ts";
import { ExportLedger } from "./ledgers/export_ledger.ts";
import { JobLedger } from "./ledgers/job_ledger.ts";
import { KeyLedger } from "./ledgers/key_ledger.ts";
import { LatencyLedger } from "./ledgers/latency_ledger.ts";
import type { SoakOptions } from "./options.ts";
import { Outages } from "./outages.ts";
import { Service } from "./service.ts";
import type { Ledgers, Soak } from "./soak.ts";
import { Tally } from "./tally.ts";
import { makeWorld } from "./world.ts";

/** Shorter than the default of 20 s, because a run is short and kills many runners. */
const HEARTBEAT_SECONDS = 6;
const CATALOG_TIMEOUT_MS = 60_000;
/**
 * Each client is a different user with its own addresses, so the default limits apply. Only sign-ins and export jobs
 * get higher limits, because few accounts sign in and few organizations queue exports.
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
  /** Aborted to end the load. */
  end: AbortController;
}

export interface PlaceOptions {
  options: SoakOptions;
  db: TestDatabase;
  mailServer: MailServer;
  server: OwnServer;
  /** Starts the processes, and stops them when it is disposed of. */
  supervisor: Supervisor;
}

/** Starts the processes and creates the data that clients use. */
export async function openPlace(given: PlaceOptions): Promise<Place> {
  const { options, db, mailServer, server } = given;
  await requireFsync(db);
  await shortenHeartbeats(db, HEARTBEAT_SECONDS);
  const dataDir = join(server.directory, "service");
  mkdirSync(dataDir);
  const { apis, runners } = await startServices(given, dataDir);
  // Faults kill only the first API and the first runner. The second ones run through the whole soak, which shows
  // whether their memory grows.
  const [[api], [runner]] = [apis, runners];
  const world = await makeWorld(
    db,
    {
      request: (path, request) => fetch(testRequest(`${api.url}${path}`, request)),
    },
    options.clients,
  );
  await syncOnce({ databaseUrl: db.url, dataDir }, 0);
  // Each process reloads the catalog only every few seconds.
  for (const { url } of apis) await waitFor(async () => hasModels(url), CATALOG_TIMEOUT_MS);
  const end = new AbortController();
  const soak: Soak = {
    options,
    db,
    dataDir,
    world,
    apis,
    runners,
    ledgers: openLedgers(),
    outages: new Outages(),
    findings: new Findings(),
    tally: new Tally(),
    latencies: new LatencyLedger(),
    abuse: new AbuseLedger(),
    // The final check tries many revoked credentials. Each failure counts against the address, so the address varies.
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

/**
 * Throws if fsync is off. Killing a process leaves the operating system's cache intact, but PostgreSQL guarantees crash recovery
 * only with fsync.
 */
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
    const own = { ...env, PORT: String(chooseFreePort("127.0.0.1")) };
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

function openLedgers(): Ledgers {
  return {
    definitions: new DefinitionLedger(),
    executions: new ExecutionLedger(),
    exports: new ExportLedger(),
    jobs: new JobLedger(),
    keys: new KeyLedger(),
  };
}
