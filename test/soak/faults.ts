/** Kills processes in turn: the API, the job runner, and PostgreSQL in three ways. */
import { setTimeout as delay } from "node:timers/promises";
import { pollUntil } from "../../shared/process/with_timeout.ts";
import type { OwnServer } from "../helpers/postgres/own_server.ts";
import { identifyProcess, signalProcess } from "../helpers/process/identity.ts";
import { waitFor } from "../helpers/wait_for.ts";
import type { Chance } from "./chance.ts";
import type { Service } from "./service.ts";
import type { Soak } from "./soak.ts";

const BACK_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 200;
/** Longer than the 5 s that the postmaster gives its child processes to exit after a crash. */
const CRASH_TIMEOUT_MS = 10_000;
/** The maximum deviation of a pause from its mean, as a share of the mean. */
const JITTER = 0.2;

export interface Targets {
  server: OwnServer;
  /** The API process to kill and restart, while another one keeps running. */
  api: Service;
  /** The job runner to kill and restart, while another one keeps running. */
  runner: Service;
}

interface Fault {
  name: string;
  /** The component that is down during the fault, as in `Outage`. */
  what: string;
  /** Causes the fault; settles when the component is up again. */
  run(): Promise<void>;
}

/** Causes one fault after another, each kind once per round, until the load ends. */
export async function runFaults(soak: Soak, targets: Targets, chance: Chance): Promise<void> {
  const faults = listFaults(soak, targets, chance);
  const pause = () => soak.options.intervalSeconds * 1000 * chance.between(1 - JITTER, 1 + JITTER);
  while (true) {
    for (const fault of chance.shuffle(faults)) {
      await delay(pause(), undefined, { signal: soak.over }).catch(() => {});
      if (soak.over.aborted) return;
      const outage = soak.outages.begin(fault.what, fault.name);
      await fault.run().catch((cause: unknown) => {
        throw new Error(`Cannot go on after "${fault.name}": it is not back`, { cause });
      });
      soak.outages.end(outage);
      soak.tally.add(`fault/${fault.name}`);
    }
  }
}

function listFaults(soak: Soak, { server, api, runner }: Targets, chance: Chance): Fault[] {
  const restart = (service: Service) => async () => {
    await service.kill();
    await service.start();
  };
  const endServer = (signal: NodeJS.Signals) => async () => {
    await server.end(signal);
    await server.start();
    await waitUntilReady(soak);
  };
  return [
    { name: `${api.name} killed`, what: api.name, run: restart(api) },
    { name: `${runner.name} killed`, what: runner.name, run: restart(runner) },
    { name: "PostgreSQL stopped at once", what: "database", run: endServer("SIGQUIT") },
    { name: "PostgreSQL killed", what: "database", run: endServer("SIGKILL") },
    {
      name: "a process of PostgreSQL killed",
      what: "database",
      run: async () => {
        await crash(server, chance);
        await waitUntilReady(soak);
      },
    },
  ];
}

/** Kills one of PostgreSQL's server processes and waits until all of them are gone. The postmaster then runs crash recovery. */
async function crash(server: OwnServer, chance: Chance): Promise<void> {
  const before = server.children().map((pid) => [pid, identifyProcess(pid)] as const);
  const areGone = () => before.every(([pid, identity]) => identifyProcess(pid) !== identity);
  while (!areGone()) {
    // Killing a process that is already exiting does not crash the server, so the loop picks another one.
    signalProcess(chance.pick(before)[0], "SIGKILL");
    await waitFor(areGone, CRASH_TIMEOUT_MS).catch(() => {});
  }
}

/** Waits until every API reports that it is ready. */
async function waitUntilReady({ apis }: Soak): Promise<void> {
  for (const api of apis) {
    const isReady = async () => {
      const response = await fetch(`${api.url}/health/ready`).catch(() => null);
      await response?.arrayBuffer();
      return response?.status === 200;
    };
    const isBack = await pollUntil(isReady, { timeoutMs: BACK_TIMEOUT_MS, intervalMs: READY_POLL_MS });
    if (!isBack) throw new Error(`Cannot reach the database by ${api.name}`);
  }
}
