/** `bun run soak`: mixed load on real processes while they are killed in turn, and at the end an account of all of it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { openSupervisor, type Supervisor } from "../../shared/stack/supervisor.ts";
import { untilAborted } from "../../shared/stack/wait.ts";
import { shortenHeartbeats } from "../helpers/aftermath.ts";
import { testRequest } from "../helpers/app.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/database.ts";
import { chooseFreePort, type MailServer, openMailServer } from "../helpers/mail_server.ts";
import { OwnServer } from "../helpers/own_server.ts";
import { DefinitionBook } from "./books/definition_book.ts";
import { ExecutionBook } from "./books/execution_book.ts";
import { ExportBook } from "./books/export_book.ts";
import { JobBook } from "./books/job_book.ts";
import { KeyBook } from "./books/key_book.ts";
import { keepSyncing, syncOnce } from "./catalog_syncs.ts";
import { Chance } from "./chance.ts";
import { checkAftermath } from "./checks/aftermath.ts";
import { countFiles, listLeaks } from "./checks/connections.ts";
import { listDamage, listUnexcused } from "./checks/logs.ts";
import { reportMemory, sampleMemory } from "./checks/memory.ts";
import { runClients } from "./clients.ts";
import { runFaults, type Targets } from "./faults.ts";
import { Findings } from "./findings.ts";
import { parseOptions, type SoakOptions, USAGE } from "./options.ts";
import { Outages } from "./outages.ts";
import { Service } from "./service.ts";
import type { Soak } from "./soak.ts";
import { statusLine } from "./status_line.ts";
import { Tally } from "./tally.ts";
import { keepWriting } from "./tracker.ts";
import { makeWorld } from "./world.ts";

const STATUS_MS = 5000;
const MEMORY_MS = 1000;
/** Instead of 20 s: a run is short, and dead runners are many. */
const HEARTBEAT_SECONDS = 6;
/** Clients are to meet the service's faults, not its limits. */
const LIMITS = {
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: "100000000",
  RATE_LIMIT_USER_PER_MINUTE: "100000000",
  RATE_LIMIT_LOGIN_PER_MINUTE: "10000",
  EXPORT_JOBS_PER_HOUR: "100000",
};

/** Returns the exit code: 1 when anything was wrong. */
export async function runSoak(command: Command): Promise<number> {
  const options = parseOptions(command.args);
  if (!options) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  await using server = new OwnServer("service");
  await using supervisor = openSupervisor({ force: command.force });
  const run = async () => {
    const url = await command.progress.step("Starting PostgreSQL, with fsync", () => server.start());
    await using db = await openTestDatabase(url);
    await using mailServer = await openMailServer();
    const place = await open({ options, db, mailServer, server, supervisor });
    return await soakAndCheck(place);
  };
  return await untilAborted(run(), command.stop);
}

/** Everything a run needs. */
interface Place {
  soak: Soak;
  server: OwnServer;
  mailServer: MailServer;
  targets: Targets;
  services: readonly Service[];
  /** Ends the load. */
  end: AbortController;
}

async function open(given: {
  options: SoakOptions;
  db: TestDatabase;
  mailServer: MailServer;
  server: OwnServer;
  supervisor: Supervisor;
}): Promise<Place> {
  const { options, db, mailServer, server, supervisor } = given;
  await shortenHeartbeats(db, HEARTBEAT_SECONDS);
  const dataDir = join(server.directory, "service");
  mkdirSync(dataDir);
  const env = { ...LIMITS, DATABASE_URL: db.url, DATA_DIR: dataDir, EXPORT_SWEEP_CRON: "* * * * *" };
  const startApi = async (name: string) => {
    const port = String(await chooseFreePort());
    return startService({ name, folder: "api", readyMessage: "listening", env: { ...env, PORT: port } });
  };
  const startRunner = (name: string) =>
    startService({
      name,
      folder: "jobs",
      readyMessage: "working",
      env: { ...env, SMTP_URL: mailServer.url },
    });
  async function startService(service: Omit<ConstructorParameters<typeof Service>[0], "supervisor">) {
    const started = new Service({ ...service, supervisor });
    await started.start();
    return started;
  }
  const [api, otherApi] = [await startApi("api-1"), await startApi("api-2")];
  const [runner, otherRunner] = [await startRunner("runner-1"), await startRunner("runner-2")];
  const world = await makeWorld(db, {
    request: (path, request) => fetch(testRequest(`${api.url}${path}`, request)),
  });
  await syncOnce({ databaseUrl: db.url, dataDir }, 0);
  const end = new AbortController();
  const soak: Soak = {
    ...{ options, db, dataDir, world },
    books: {
      definitions: new DefinitionBook(),
      executions: new ExecutionBook(),
      exports: new ExportBook(),
      jobs: new JobBook(),
      keys: new KeyBook(),
    },
    apis: [api, otherApi],
    runners: [runner, otherRunner],
    outages: new Outages(),
    findings: new Findings(),
    tally: new Tally(),
    over: end.signal,
  };
  const services = [...soak.apis, ...soak.runners];
  return { soak, server, mailServer, targets: { server, api, runner }, services, end };
}

async function soakAndCheck(place: Place): Promise<number> {
  const { soak, services, server, mailServer } = place;
  const idleFiles = new Map(
    await Promise.all(services.map(async (one) => [one, await countFiles(one)] as const)),
  );
  await underLoad(place);
  process.stdout.write(
    "The load is over: waiting for the last jobs and connections, and checking everything\n",
  );
  await checkAftermath(soak, mailServer);
  const { findings, outages, tally } = soak;
  findings.addAll("something is left open", await listLeaks(soak, idleFiles));
  for (const service of services) {
    const code = await service.leave();
    if (code !== 0) findings.add("a process has not left in order", `${service.name} left with ${code}`);
    findings.addAll("a process has ended by itself", service.accidents);
  }
  findings.addAll("an error without an outage", listUnexcused(services, outages, tally));
  findings.addAll("PostgreSQL has been damaged", await listDamage(server.logPath, tally));
  const { table, growing } = reportMemory(services.flatMap(({ lives }) => lives));
  findings.addAll("memory grows", growing);
  report(soak, table);
  return findings.count === 0 ? 0 : 1;
}

/** The load, the faults, and what is told of them meanwhile. */
async function underLoad({ soak, targets, services, end }: Place): Promise<void> {
  const startedAt = performance.now();
  const status = setInterval(() => process.stdout.write(`${statusLine(soak, startedAt)}\n`), STATUS_MS);
  const memory = setInterval(() => void sampleMemory(services), MEMORY_MS);
  const work = Promise.all([
    runClients(soak),
    runFaults(soak, targets, new Chance(soak.options.seed, -2)),
    keepSyncing(soak),
    keepWriting(soak),
  ]);
  try {
    await Promise.race([delay(soak.options.minutes * 60_000), work]);
    end.abort();
    await work;
  } finally {
    end.abort();
    clearInterval(status);
    clearInterval(memory);
  }
}

function report({ tally, findings, options }: Soak, memory: string): void {
  const counted = [
    ...[
      "requests",
      "exports",
      "slow reads",
      "disconnects",
      "jobs",
      "downloads",
      "executions",
      "publications",
    ],
    ...["sign-ins", "keys", "syncs", "failed syncs", "tracker writes"],
  ];
  const sections = [
    counted.map((name) => `${tally.get(name).toLocaleString("en")} ${name}`).join(", "),
    `Requests by their end: ${tally.list("end/")}`,
    `Slowest answers in ms, exports left out: ${tally.list("slowest/")}`,
    `Faults: ${tally.list("fault/") || "none"}`,
    `Logged: ${tally.list("log/") || "nothing"}`,
    `Logged by PostgreSQL as ERROR: ${tally.list("postgres/") || "nothing"}`,
    memory,
    findings.count === 0
      ? `Nothing was lost, doubled, leaked or wrong (seed ${options.seed})`
      : `${findings.count} violations (seed ${options.seed})\n\n${findings.format()}`,
  ];
  process.stdout.write(`\n${sections.join("\n\n")}\n`);
}
