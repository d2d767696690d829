/** `bun run soak`: puts a mixed load on real processes, kills them in turn, and prints a report. */
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "../../deploy/local/bootstrap.ts";
import { openSupervisor } from "../../deploy/local/supervisor.ts";
import { untilAborted } from "../../shared/process/with_timeout.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { listAbuserKinds, runAbusers } from "./abusers.ts";
import { keepSyncing } from "./catalog_syncs.ts";
import { Chance } from "./chance.ts";
import { checkAftermath } from "./checks/aftermath.ts";
import { countFiles, listLeaks } from "./checks/connections.ts";
import { listDamage, listUnexcused } from "./checks/logs.ts";
import { reportMemory, sampleMemory } from "./checks/memory.ts";
import { runClients } from "./clients.ts";
import { runFaults } from "./faults.ts";
import { parseOptions, USAGE } from "./options.ts";
import { openPlace, type Place } from "./place.ts";
import { report } from "./report.ts";
import type { Soak } from "./soak.ts";
import { statusLine } from "./status_line.ts";
import { keepWriting } from "./tracker.ts";

const STATUS_MS = 5000;
/** The share of a hostile run that is not measured, because code is still being compiled and caches are filling. */
const WARM_UP = 0.1;
/** The share of a hostile run that is measured without abusers. */
const CALM = 0.4;
const MEMORY_MS = 1000;

/** Runs a soak and returns the exit code: 1 if it found a violation, 2 for invalid options. */
export async function runSoak(command: Command): Promise<number> {
  if (command.args.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const options = parseOptions(command.args);
  if (!options) {
    process.stderr.write(USAGE);
    return 2;
  }
  await using server = new OwnServer({ isDurable: true });
  await using supervisor = openSupervisor({ force: command.force });
  const run = async () => {
    const url = await command.step("Starting PostgreSQL, with fsync", () => server.start());
    await using db = await openTestDatabase(url);
    await using mailServer = await openMailServer();
    return await soakAndCheck(await openPlace({ options, db, mailServer, server, supervisor }));
  };
  return await untilAborted(run(), command.stop);
}

async function soakAndCheck(place: Place): Promise<number> {
  const { soak, services, server, mailServer } = place;
  const idleFiles = new Map(
    await Promise.all(services.map(async (one) => [one, await countFiles(one)] as const)),
  );
  const { findings, outages, tally } = soak;
  await underLoad(place).catch((error: unknown) => findings.add("the run was cut short", withCause(error)));
  process.stdout.write(
    "The load is over: waiting for the last jobs and connections, and checking everything\n",
  );
  await checkAftermath(soak, mailServer);
  findings.addAll("something is left open", await listLeaks(soak, idleFiles));
  for (const service of services) {
    findings.addAll("a process has ended by itself", service.accidents);
    const code = await service.leave();
    if (code !== 0) findings.add("a process has not left in order", `${service.name} left with ${code}`);
  }
  findings.addAll("an error without an outage", listUnexcused(services, outages, tally));
  findings.addAll("PostgreSQL has been damaged", await listDamage(server.logPath, tally));
  if (soak.options.isHostile) {
    findings.addAll("abusers keep others waiting", soak.latencies.listTroubles());
    findings.addAll("an abuser did nothing", soak.abuse.listTroubles(listAbuserKinds(soak.options)));
  }
  const { table, growing } = reportMemory(services.flatMap(({ lives }) => lives));
  findings.addAll("memory grows", growing);
  report(soak, table);
  return findings.count === 0 ? 0 : 1;
}

/** Runs the load and the faults, and prints progress. */
async function underLoad({ soak, targets, services, end }: Place): Promise<void> {
  const startedAt = performance.now();
  const status = setInterval(() => process.stdout.write(`${statusLine(soak, startedAt)}\n`), STATUS_MS);
  let lastSampleAt = startedAt;
  const memory = setInterval(() => {
    const now = performance.now();
    // On an overloaded machine, the soak itself is delayed, and responses look slower than they are.
    soak.tally.most("held up", now - lastSampleAt - MEMORY_MS);
    lastSampleAt = now;
    void sampleMemory(services);
  }, MEMORY_MS);
  const work = Promise.all([
    runClients(soak),
    ...(soak.options.hasFaults ? [runFaults(soak, targets, new Chance(soak.options.seed, -2))] : []),
    ...(soak.options.isHostile ? [turnHostile(soak)] : []),
    keepSyncing(soak),
    keepWriting(soak),
  ]);
  try {
    await Promise.race([delay(soak.options.minutes * 60_000), work]);
    end.abort();
    await work;
  } finally {
    end.abort();
    soak.latencies.phase = "over";
    clearInterval(status);
    clearInterval(memory);
  }
}

/** Measures response times without abusers, then starts the abusers. */
async function turnHostile(soak: Soak): Promise<void> {
  const { latencies, options, over } = soak;
  const wait = (part: number) => delay(part * options.minutes * 60_000, undefined, { signal: over });
  try {
    await wait(WARM_UP);
    latencies.phase = "calm";
    await wait(CALM);
  } catch {
    return;
  }
  latencies.phase = "hostile";
  await runAbusers(soak);
}

/** Returns the text of an error and its causes. */
function withCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? String(error) : `${error}, because of ${withCause(cause)}`;
}
