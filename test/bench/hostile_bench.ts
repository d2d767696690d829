/**
 * `bun run bench hostile`: what hostile bodies, large answers and readers who leave cost everybody else. The event loop is
 * measured in the API's own process (loop_probe.ts).
 */
import { makeForest } from "../helpers/definitions/forest.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import type { BenchRun } from "./bench_run.ts";
import { type Cell, type FigureTable, figure } from "./figures.ts";
import { type HostileRequest, hostileKinds } from "./hostile_requests.ts";
import { measureLeavers } from "./leavers.ts";
import type { LoopReading } from "./loop_probe.ts";
import { metered } from "./measure.ts";
import { startProbed } from "./probed_server.ts";
import { cpuSeconds, findPostmaster, serverCpuSeconds } from "./process_cpu.ts";
import { makeBenchRegistry } from "./registry_data.ts";

/** Issue 12: whatever a body holds. */
const LOOP_GOAL = { atMost: 50 };
const TREE_GOAL = { atMost: 300 };
const LEAVER_GOAL = { atMost: 1000 };
const LINES = 2500;
const NODES = 5000;
const TREE_PATH = "/api/v1/definitions/agent/node-1/dependencies";
const TREE_ROUNDS = 10;
const SENT_AT_ONCE = 4;
const ANSWERS_AT_ONCE = 20;

interface HostileBench {
  run: BenchRun;
  db: TestDatabase;
  url: string;
  /** Of the API's process. */
  pid: number;
  person: Person;
  /** What the loop did since it was read last. */
  readLoop: () => Promise<LoopReading>;
}

export async function benchHostile(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes, signal } = run;
  await using db = await openTestDatabase(run.serverUrl);
  const person = await command.progress.step("Making definitions", async () => {
    await makeBenchRegistry(db.owner, Math.min(sizes.definitionLines, LINES));
    const maker = await createFactory(db.sql).person();
    await makeForest(db, maker, NODES + 100);
    return maker;
  });
  await using ours = await startProbed(db.url);
  const { url, pid, readLoop } = ours;
  const bench: HostileBench = { run, db, url, pid, person, readLoop };
  const tables: FigureTable[] = [];
  for (const measure of [benchBodies, benchAnswers, benchTree, benchLeavers]) {
    signal.throwIfAborted();
    tables.push(await measure(bench));
  }
  return tables;
}

/** The round in which the loop was away the least: other processes only ever add to it. */
async function watchLoop(
  { run, readLoop }: HostileBench,
  work: () => Promise<unknown>,
): Promise<LoopReading> {
  const readings: LoopReading[] = [];
  for (let round = 0; round < run.sizes.rounds; round += 1) {
    run.signal.throwIfAborted();
    await readLoop();
    await work();
    readings.push(await readLoop());
  }
  return readings.reduce((best, reading) => (reading.delayMs < best.delayMs ? reading : best));
}

function loopCells({ delayMs, cpuMs }: LoopReading): Cell[] {
  return [figure(delayMs, 1, LOOP_GOAL), figure(cpuMs, 1)];
}

async function benchBodies(bench: HostileBench): Promise<FigureTable> {
  const { run, db, url, person } = bench;
  const rows: Cell[][] = [];
  await run.command.progress.step("Sending hostile bodies", async (note) => {
    const idle = await watchLoop(bench, () => Bun.sleep(1000));
    rows.push(["nothing", figure(0, 0), figure(idle.delayMs, 1), figure(idle.cpuMs, 1)]);
    for (const { name, requests } of await hostileKinds(url)) {
      note(name);
      const { token } = await createFactory(db.sql).session({ userId: person.user.id });
      const loop = await watchLoop(bench, () => sendAll(url, { requests, token }));
      rows.push([name, figure(requests.length, 0), ...loopCells(loop)]);
    }
  });
  return {
    title:
      "The longest delay of the API's event loop while hostile bodies come, four at once, to every route that takes one",
    header: ["bodies", "requests", "delay ms", "CPU ms"],
    rows,
  };
}

async function sendAll(
  url: string,
  { requests, token }: { requests: readonly HostileRequest[]; token: string },
): Promise<void> {
  const left = requests.values();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async () => {
    for (const { method, path, body } of left) {
      const response = await fetch(`${url}${path}`, { method, headers, body });
      const text = await response.text();
      if (response.status < 500 && response.status !== 401) continue;
      throw new Error(`Cannot measure: ${method} ${path} answered ${response.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: SENT_AT_ONCE }, send));
}

/** Another resource each time: what was compressed once is not compressed again. */
const ANSWERS: readonly (readonly [name: string, path: (number: number) => string])[] = [
  ["100 definitions", (number) => `/api/v1/definitions?limit=100&offset=${number}`],
  ["5,000 dependencies", (number) => `${TREE_PATH}?maxDepth=${5 + (number % 46)}`],
];

async function benchAnswers(bench: HostileBench): Promise<FigureTable> {
  const { run, url, person } = bench;
  let number = 0;
  const get = async (path: string, encoding: string): Promise<number> => {
    const headers = { authorization: `Bearer ${person.key}`, "accept-encoding": encoding };
    const response = await fetch(url + path, { headers });
    const { byteLength } = await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`Cannot measure: ${path} answered ${response.status}`);
    return byteLength;
  };
  const rows: Cell[][] = [];
  await run.command.progress.step("Compressing large answers", async (note) => {
    for (const [name, pathOf] of ANSWERS) {
      for (const encoding of ["identity", "gzip", "zstd"]) {
        for (const count of [1, ANSWERS_AT_ONCE]) {
          note(`${name}, ${encoding}, ${count} at once`);
          let bytes: number[] = [];
          const loop = await watchLoop(bench, async () => {
            const paths = Array.from({ length: count }, () => pathOf(number++));
            bytes = await Promise.all(paths.map((path) => get(path, encoding)));
          });
          const kibibytes = figure(Math.max(...bytes) / 1024, 0);
          rows.push([`${name}, ${encoding}`, figure(count, 0), kibibytes, ...loopCells(loop)]);
        }
      }
    }
  });
  return {
    title: "The same while large answers are made and compressed",
    header: ["answers", "at once", "KiB, as read", "delay ms", "CPU ms"],
    rows,
  };
}

async function benchTree({ run, db, url, pid, person }: HostileBench): Promise<FigureTable> {
  const postmaster = await findPostmaster(db.sql);
  const headers = { authorization: `Bearer ${person.key}` };
  const meters = { ours: () => cpuSeconds(pid), database: () => serverCpuSeconds(postmaster) };
  const read = () =>
    metered(meters, async () => {
      const response = await fetch(url + TREE_PATH, { headers });
      const { data } = (await response.json()) as { data: { totalCount: number } };
      if (data.totalCount !== NODES) throw new Error(`Cannot measure: the tree has ${data.totalCount} nodes`);
      return {};
    });
  const readings = await run.command.progress.step("Reading a tree of dependencies", async () => {
    const all = [];
    while (all.length < TREE_ROUNDS) all.push(await read());
    return all;
  });
  const best = (name: "seconds" | "ours" | "database") =>
    Math.min(...readings.map((reading) => reading[name] * 1000));
  const cells = [figure(best("seconds"), 0, TREE_GOAL), figure(best("ours"), 0), figure(best("database"), 0)];
  return {
    title: "A tree of dependencies over HTTP, the best of ten",
    header: ["tree", "ms", "CPU ms of the API", "CPU ms of PostgreSQL"],
    rows: [["5,000 dependencies", ...cells]],
  };
}

async function benchLeavers(bench: HostileBench): Promise<FigureTable> {
  const measured = await bench.run.command.progress.step("Leaving exports", () => measureLeavers(bench));
  return {
    title: "Until the connection of an export is free again when its reader leaves, the longest of five",
    header: ["export", "ms"],
    rows: measured.map(([kind, ms]) => [kind, figure(ms, 0, LEAVER_GOAL)]),
  };
}
