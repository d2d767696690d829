/**
 * Puts load on a server over HTTP. Each connection has its own client address and sends the next request after each
 * response.
 */
import type { Socket } from "bun";
import { cpuSeconds, serverCpuSeconds } from "./machine.ts";
import {
  type BenchRun,
  mapValues,
  measureInTurn,
  median,
  medians,
  metered,
  quantile,
  type Reading,
  readInTurn,
  type Task,
} from "./measure.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./results.ts";
import type { BenchServer, ComparedServers } from "./servers.ts";

export interface Load {
  url: string;
  headers?: Readonly<Record<string, string>>;
  connections: number;
  seconds: number;
}

export interface LoadResult extends Reading {
  requests: number;
  requestsPerSecond: number;
  /** The 99th percentile of response times in milliseconds. */
  p99Ms: number;
}

interface Connection {
  request: string;
  sentAt: number;
  /** The received part of the response's head, until the head is complete. */
  head: Buffer;
  /** The remaining bytes of the response; null until its head is complete. */
  left: number | null;
  /** Resolves after the last response; rejects if the connection or a response fails. */
  done: PromiseWithResolvers<void>;
}

const NOTHING = Buffer.alloc(0);
const END_OF_HEAD = Buffer.from("\r\n\r\n");

/** Runs the load once all connections are open. Throws unless each response is a 200 with a `Content-Length`. */
export async function runLoad({ url, headers = {}, connections, seconds }: Load): Promise<LoadResult> {
  const { pathname, search, host } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${lines.join("")}`;
  const durations: number[] = [];
  let deadline = Number.POSITIVE_INFINITY;
  const ask = (socket: Socket<Connection>): void => {
    Object.assign(socket.data, { sentAt: performance.now(), head: NOTHING, left: null });
    socket.write(socket.data.request);
  };
  const answered = (socket: Socket<Connection>): void => {
    const now = performance.now();
    durations.push(now - socket.data.sentAt);
    if (now < deadline) ask(socket);
    else {
      socket.data.done.resolve();
      socket.end();
    }
  };
  const sockets = await Promise.all(
    Array.from({ length: connections }, (_, number) =>
      connect(url, { answered, request: `${head}X-Forwarded-For: ${clientAddress(number)}\r\n\r\n` }),
    ),
  );
  const begun = performance.now();
  deadline = begun + seconds * 1000;
  for (const socket of sockets) ask(socket);
  await Promise.all(sockets.map(({ data }) => data.done.promise));
  const elapsedSeconds = (performance.now() - begun) / 1000;
  const sorted = durations.toSorted((a, b) => a - b);
  return {
    requests: durations.length,
    requestsPerSecond: durations.length / elapsedSeconds,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

/**
 * Returns a client's address in the network for benchmarks (RFC 2544). A different address per connection keeps the
 * service's limits per client from applying.
 */
function clientAddress(number: number): string {
  return `198.18.${number >> 8}.${number & 255}`;
}

/** Opens a connection and calls `answered` after each complete response. */
async function connect(
  url: string,
  { answered, request }: { answered: (socket: Socket<Connection>) => void; request: string },
): Promise<Socket<Connection>> {
  const { hostname, port } = new URL(url);
  return Bun.connect<Connection>({
    hostname,
    port: Number(port),
    data: { request, sentAt: 0, head: NOTHING, left: null, done: Promise.withResolvers<void>() },
    socket: {
      data(socket, chunk) {
        try {
          if (takeChunk(socket.data, chunk)) answered(socket);
        } catch (error) {
          socket.data.done.reject(error);
        }
      },
      error: ({ data }, error) => data.done.reject(error),
      close: ({ data }) => data.done.reject(new Error(`Cannot go on: ${url} has closed a connection`)),
    },
  });
}

/** Counts the bytes of a chunk. Returns true when the response is complete. */
function takeChunk(connection: Connection, chunk: Buffer): boolean {
  if (connection.left !== null) {
    connection.left -= chunk.byteLength;
    return connection.left <= 0;
  }
  // A head usually arrives in one chunk. An incomplete head is copied, because the chunk's memory is reused.
  const bytes = connection.head.length === 0 ? chunk : Buffer.concat([connection.head, chunk]);
  const end = bytes.indexOf(END_OF_HEAD);
  if (end < 0) {
    connection.head = Buffer.from(bytes);
    return false;
  }
  const head = bytes.subarray(0, end).toString("latin1");
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (!head.startsWith("HTTP/1.1 200 ") || length === undefined) {
    throw new Error(`Cannot measure: the answer is ${head.slice(0, 200)}`);
  }
  connection.left = Number(length) + end + END_OF_HEAD.length - bytes.byteLength;
  return connection.left <= 0;
}

export const CONNECTIONS = 32;

export interface LoadReading extends Reading {
  requestsPerSecond: number;
  p99Ms: number;
  /** CPU microseconds of the server process per request. */
  cpuPerRequest: number;
  /** CPU microseconds of PostgreSQL per request, in the same period. */
  databaseCpuPerRequest: number;
}

export interface LoadTarget {
  server: BenchServer;
  path: string;
  headers?: Readonly<Record<string, string>>;
  connections?: number;
}

interface Loads<Name extends string> {
  targets: Readonly<Record<Name, LoadTarget>>;
  postmaster: number;
}

/** Applies the loads in turn and returns the medians by name. */
export async function measureLoads<Name extends string>(
  run: BenchRun,
  title: string,
  { targets, postmaster }: Loads<Name>,
): Promise<Record<Name, LoadReading>> {
  const { loadRounds: rounds, loadSeconds: seconds } = run.sizes;
  const tasks = mapValues(targets, (target) => () => readLoad(target, { seconds, postmaster }));
  return measureInTurn<Name, LoadReading>(run, title, { tasks, rounds });
}

/**
 * Applies the loads in turn and returns the readings by name and round. Rounds are short, because the speed of a virtual machine
 * varies. The warm-up is long enough for the JIT compilers of both runtimes.
 */
async function compareLoads<Name extends string>(
  run: BenchRun,
  title: string,
  { targets, postmaster }: Loads<Name>,
): Promise<Record<Name, LoadReading[]>> {
  const { comparedRounds: rounds, comparedSeconds, warmUpSeconds } = run.sizes;
  const tasks = mapValues(
    targets,
    (target): Task<LoadReading> =>
      (round) =>
        readLoad(target, { seconds: round === 0 ? warmUpSeconds : comparedSeconds, postmaster }),
  );
  return readInTurn<Name, LoadReading>(run, title, { tasks, rounds });
}

async function readLoad(
  { server, path, headers = {}, connections = CONNECTIONS }: LoadTarget,
  { seconds, postmaster }: { seconds: number; postmaster: number },
): Promise<LoadReading> {
  const meters = { cpu: () => cpuSeconds(server.pid), databaseCpu: () => serverCpuSeconds(postmaster) };
  const load = { url: `${server.url}${path}`, headers, connections, seconds };
  const { cpu, databaseCpu, requests, requestsPerSecond, p99Ms } = await metered(meters, () => runLoad(load));
  return {
    requestsPerSecond,
    p99Ms,
    cpuPerRequest: (cpu / requests) * 1e6,
    databaseCpuPerRequest: (databaseCpu / requests) * 1e6,
  };
}

export interface ComparedRead {
  name: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** The goal for the throughput relative to Fastify; the common goal of all reads if unset. */
  ratio?: Goal;
}

/** Compares throughput and CPU cost per request on both servers, one read after another. */
export async function compareReads(
  run: BenchRun,
  servers: ComparedServers,
  given: { title: string; reads: readonly ComparedRead[]; ratio: Goal; p99Ms?: Goal },
): Promise<[speed: FigureTable, cost: FigureTable]> {
  const speed: Cell[][] = [];
  const cost: Cell[][] = [];
  for (const { name, ratio = given.ratio, ...read } of given.reads) {
    const readings = await compareLoads(run, name, {
      targets: {
        ours: { server: servers.ours, ...read },
        fastify: { server: servers.fastify, ...read },
      },
      postmaster: servers.postmaster,
    });
    const ratios = readings.ours.map(
      ({ requestsPerSecond }, round) =>
        requestsPerSecond / (readings.fastify[round]?.requestsPerSecond ?? Number.NaN),
    );
    const { ours, fastify } = mapValues(readings, medians);
    speed.push([
      name,
      ...[ours, fastify].map(({ requestsPerSecond }) => figure(requestsPerSecond, 0)),
      figure(median(ratios), 2, ratio),
      [1 / 4, 3 / 4].map((share) => quantile(ratios, share).toFixed(2)).join(" to "),
      figure(ours.p99Ms, 1, given.p99Ms),
      figure(fastify.p99Ms, 1),
    ]);
    const costs = [ours, fastify].flatMap((one) => [one.cpuPerRequest, one.databaseCpuPerRequest]);
    cost.push([name, ...costs.map((microseconds) => figure(microseconds, 0))]);
  }
  return [
    { title: given.title, header: SPEED_HEADER, rows: speed },
    { title: "CPU time of a request, in µs", header: COST_HEADER, rows: cost },
  ];
}

const SPEED_HEADER = ["read", "req/s", "Fastify req/s", "× Fastify", "middle half", "p99 ms", "Fastify p99"];
const COST_HEADER = ["read", "server", "database", "Fastify", "its database"];
