/** The same load on several servers in turn, and the table of what came of it. */
import type { BenchRun } from "./bench_run.ts";
import { type FigureTable, figure, type Goal } from "./figures.ts";
import { runLoad } from "./http_load.ts";
import { measureInTurn, type Reading } from "./measure.ts";
import { cpuSeconds } from "./process_cpu.ts";
import type { BenchServer } from "./servers.ts";

export const CONNECTIONS = 32;

export interface LoadReading extends Reading {
  requestsPerSecond: number;
  p99Ms: number;
  /** Microseconds of processor time of the server's process, without the database's. */
  cpuPerRequest: number;
}

export interface LoadTarget {
  server: BenchServer;
  path: string;
  headers?: Readonly<Record<string, string>>;
  connections?: number;
}

/** Puts each load on in turn; the medians by name. */
export async function measureLoads<Name extends string>(
  run: BenchRun,
  title: string,
  targets: Readonly<Record<Name, LoadTarget>>,
): Promise<Record<Name, LoadReading>> {
  const { loadRounds, loadSeconds } = run.sizes;
  const tasks = Object.entries<LoadTarget>(targets).map(([name, target]) => [
    name,
    () => readLoad(target, loadSeconds),
  ]);
  return measureInTurn<Name, LoadReading>(run, title, {
    // The names are those of `targets`.
    tasks: Object.fromEntries(tasks) as Record<Name, () => Promise<LoadReading>>,
    rounds: loadRounds,
  });
}

async function readLoad(target: LoadTarget, seconds: number): Promise<LoadReading> {
  const { server, path, headers = {}, connections = CONNECTIONS } = target;
  const before = await cpuSeconds(server.pid);
  const load = await runLoad({ url: `${server.url}${path}`, headers, connections, seconds });
  const cpu = (await cpuSeconds(server.pid)) - before;
  const { requests, requestsPerSecond, p99Ms } = load;
  return { requestsPerSecond, p99Ms, cpuPerRequest: (cpu / requests) * 1e6 };
}

export interface ComparedServers {
  ours: BenchServer;
  fastify: BenchServer;
  hono: BenchServer;
}

export interface ComparedRead {
  name: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
}

/** Compares reads one after the other, on all three servers. */
export async function compareReads(
  run: BenchRun,
  servers: ComparedServers,
  given: { title: string; reads: readonly ComparedRead[]; ratio: Goal; p99Ms?: Goal },
): Promise<FigureTable> {
  const rows: FigureTable["rows"][number][] = [];
  for (const { name, ...read } of given.reads) {
    const { ours, fastify, hono } = await measureLoads(run, name, {
      ours: { server: servers.ours, ...read },
      fastify: { server: servers.fastify, ...read },
      hono: { server: servers.hono, ...read },
    });
    rows.push([
      name,
      figure(ours.requestsPerSecond, 0),
      figure(fastify.requestsPerSecond, 0),
      figure(hono.requestsPerSecond, 0),
      figure(ours.requestsPerSecond / fastify.requestsPerSecond, 2, given.ratio),
      figure(ours.requestsPerSecond / hono.requestsPerSecond, 2),
      figure(ours.p99Ms, 1, given.p99Ms),
      figure(fastify.p99Ms, 1),
      figure(hono.p99Ms, 1),
      figure(ours.cpuPerRequest, 0),
      figure(fastify.cpuPerRequest, 0),
      figure(hono.cpuPerRequest, 0),
    ]);
  }
  return { title: given.title, header: READ_HEADER, rows };
}

const READ_HEADER = [
  "read",
  ...["req/s", "Fastify req/s", "Hono req/s", "× Fastify", "× Hono"],
  ...["p99 ms", "Fastify p99", "Hono p99", "CPU µs", "Fastify CPU", "Hono CPU"],
];
