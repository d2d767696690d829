/**
 * `bun run bench hostile`: how long hostile bodies and large responses block the event loop, what a large dependency tree costs,
 * and how soon an export frees its connection after the reader disconnects. The event loop is measured in the API process
 * (loop_probe.ts).
 */
import type { OpenApiDocument } from "../../api/openapi/types.ts";
import type { JsonSchema } from "../../shared/schemas.ts";
import { EXPORT_APPLICATION } from "../../sql/connection/application_names.ts";
import { agentNeeding, agentYaml } from "../helpers/definitions/definitions.ts";
import { makeForest } from "../helpers/definitions/forest.ts";
import { HOSTILE_YAML } from "../helpers/definitions/hostile_yaml.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { deepBodies, longStrings, WIDE_BODIES, wrongBodies } from "../helpers/http/hostile_json.ts";
import { LARGE_BODIES } from "../helpers/http/large_bodies.ts";
import { listOperations } from "../helpers/http/openapi.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeBenchRegistry } from "./bench_data.ts";
import type { LoopReading } from "./loop_probe.ts";
import { cpuSeconds, findPostmaster, serverCpuSeconds } from "./machine.ts";
import { type BenchRun, metered } from "./measure.ts";
import { type Cell, type FigureTable, figure } from "./results.ts";
import { startProbed } from "./servers.ts";

/** The maximum delay of the event loop in milliseconds, for any body. */
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
  /** The API's process id. */
  pid: number;
  person: Person;
  /** Returns the measurements of the event loop since the last call. */
  readLoop: () => Promise<LoopReading>;
}

export async function benchHostile(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes, signal } = run;
  await using db = await openTestDatabase(run.serverUrl);
  const person = await command.step("Making definitions", async () => {
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

/**
 * Runs the work in rounds. Returns the reading of the round with the shortest delay, because other processes only add to a delay.
 */
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
  await run.command.step("Sending hostile bodies", async (note) => {
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
      "The longest delay of the API's event loop during hostile bodies, four at a time, to every route that accepts a body",
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

/** Each request has a different URL, because the API caches compressed responses. */
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
  await run.command.step("Compressing large answers", async (note) => {
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
    title: "The longest delay of the API's event loop while large responses are built and compressed",
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
  const readings = await run.command.step("Reading a tree of dependencies", async () => {
    const all = [];
    while (all.length < TREE_ROUNDS) all.push(await read());
    return all;
  });
  const best = (name: "seconds" | "ours" | "database") =>
    Math.min(...readings.map((reading) => reading[name] * 1000));
  const cells = [figure(best("seconds"), 0, TREE_GOAL), figure(best("ours"), 0), figure(best("database"), 0)];
  return {
    title: "A dependency tree over HTTP, the best of ten",
    header: ["tree", "ms", "CPU ms of the API", "CPU ms of PostgreSQL"],
    rows: [["5,000 dependencies", ...cells]],
  };
}

async function benchLeavers(bench: HostileBench): Promise<FigureTable> {
  const measured = await bench.run.command.step("Leaving exports", () => measureLeavers(bench));
  return {
    title:
      "The time until a database connection is free after the reader of its export disconnects, the longest of five",
    header: ["export", "ms"],
    rows: measured.map(([kind, ms]) => [kind, figure(ms, 0, LEAVER_GOAL)]),
  };
}

/** The size of an export in MiB, more than the socket buffers on both sides hold. */
const NOISE_MIB = 16;
const ROUNDS = 5;

/**
 * Measures how long an export keeps its connection after the reader disconnects. Returns the longest time in
 * milliseconds for each kind of export.
 */
export async function measureLeavers(given: {
  db: TestDatabase;
  url: string;
  person: Person;
}): Promise<[kind: string, ms: number][]> {
  const { db, url, person } = given;
  const project = await createFactory(db.sql).project({ orgId: person.org.id, ownerId: person.user.id });
  await addNoise(db, project, NOISE_MIB);
  const leave = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${person.key}` };
    const download = await beginDownload(`${url}/api/v1/export/projects/${project.id}/${path}`, headers);
    await waitFor(async () => (await countBusy(db)) > 0);
    download[Symbol.dispose]();
    const leftAt = performance.now();
    await waitFor(async () => (await countBusy(db)) === 0);
    return performance.now() - leftAt;
  };
  const measured: [string, number][] = [];
  for (const [kind, path] of [
    ["NDJSON", "runs"],
    ["CSV", "runs?format=csv"],
    ["a bundle", "bundle"],
  ] as const) {
    const times: number[] = [];
    while (times.length < ROUNDS) times.push(await leave(path));
    measured.push([kind, Math.max(...times)]);
  }
  return measured;
}

/** Counts the export connections that are in a transaction or statement. */
async function countBusy({ sql }: TestDatabase): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)
    from pg_stat_activity
    where datname = current_database() and application_name = ${EXPORT_APPLICATION} and state <> 'idle'`;
  return row.count;
}

export interface HostileRequest {
  method: string;
  path: string;
  body: string;
}

export interface HostileKind {
  name: string;
  requests: readonly HostileRequest[];
}

interface WriteRoute {
  method: string;
  path: string;
  /** The names of the body's members. */
  members: readonly string[];
}

/** Creates the hostile requests. The routes come from the OpenAPI document of the API at this URL. */
export async function hostileKinds(url: string): Promise<HostileKind[]> {
  const document = (await (await fetch(`${url}/swagger/json`)).json()) as OpenApiDocument;
  const routes = writeRoutes(document);
  const toAll = (name: string, bodies: (members: readonly string[]) => readonly string[]): HostileKind => ({
    name,
    requests: routes.flatMap(({ method, path, members }) =>
      bodies(members).map((body) => ({ method, path, body })),
    ),
  });
  return [
    toAll("nested JSON", deepBodies),
    toAll("wide JSON", () => WIDE_BODIES),
    toAll("JSON that is wrong everywhere", wrongBodies),
    toAll("JSON of one long string", longStrings),
    {
      name: "YAML bombs",
      requests: toDrafts(
        HOSTILE_YAML.map(
          ([, yaml]) =>
            () =>
              yaml,
        ),
      ),
    },
    {
      name: "large documents",
      requests: toDrafts(
        LARGE_BODIES.map(
          ([, type, body]) =>
            (name) =>
              documentOf(name, type, body),
        ),
      ),
    },
    { name: "batches of 200 documents", requests: batches() },
  ];
}

/** The limit for the texts of a batch: the size limit of a body, less the JSON around the texts. */
const MAX_TEXT_BYTES = 900_000;

/**
 * Creates batches of up to 200 documents, which are validated or stored: a chain, large documents, documents with many
 * references, and YAML bombs.
 */
function batches(): HostileRequest[] {
  const number = (make: (n: number) => string) => Array.from({ length: 200 }, (_, n) => make(n));
  const needs = (n: number) => Array.from({ length: 100 }, (_, k) => `other-${n}-${k}@^1.0.0`);
  const filler = Array.from({ length: 40 }, (_, k) => `    - "${"text ".repeat(18)}${k}"\n`).join("");
  const bombs = HOSTILE_YAML.map(([, yaml]) => yaml);
  const kinds = [
    number((n) => agentNeeding(`chain-${n}`, n === 0 ? [] : [`chain-${n - 1}@^1.0.0`])),
    number((n) => `${agentYaml(`large-${n}`)}  notes:\n${filler}`),
    number((n) => agentNeeding(`needing-${n}`, needs(n))),
    number((n) => bombs[n % bombs.length] ?? ""),
  ];
  return kinds.flatMap((yamls) => {
    let bytes = 0;
    const fitting = yamls.filter((yaml) => {
      const length = Buffer.byteLength(JSON.stringify(yaml));
      if (bytes + length > MAX_TEXT_BYTES) return false;
      bytes += length;
      return true;
    });
    const definitions = fitting.map((yaml) => ({ yaml }));
    return [true, false].map((validate) => {
      const body = JSON.stringify({ definitions, publish: true, validate });
      return { method: "POST", path: "/api/v1/definitions/batch", body };
    });
  });
}

/**
 * Lists the write routes, with paths of resources that do not exist. The API reads the body before it looks for the
 * resource.
 */
function writeRoutes(document: OpenApiDocument): WriteRoute[] {
  return listOperations(document)
    .filter(({ method }) => method !== "GET" && method !== "HEAD")
    .map(({ method, path, operation }) => {
      const schema = operation.requestBody?.content?.["application/json"]?.schema as JsonSchema | undefined;
      const members = Object.keys(schema?.["properties"] ?? {});
      return { method, path: path.replaceAll(/\{\w+\}/g, "x"), members };
    });
}

/**
 * Returns requests that create and update a draft for each text. Each text has its own draft, because writers of one
 * draft would conflict.
 */
function toDrafts(texts: readonly ((name: string) => string)[]): HostileRequest[] {
  const drafts = texts.map((text, number) => ({ name: `hostile-${number}`, text }));
  const pathOf = (name: string) => `/api/v1/definitions/agent/${name}`;
  return [
    ...drafts.map(({ name }) => toPost(pathOf(name), agentYaml(name))),
    ...drafts.flatMap(({ name, text }) => [
      toPost(pathOf(name), text(name)),
      { method: "PUT", path: `${pathOf(name)}@1.0.0`, body: JSON.stringify({ yaml: text(name) }) },
    ]),
  ];
}

function toPost(path: string, yaml: string): HostileRequest {
  return { method: "POST", path, body: JSON.stringify({ yaml }) };
}

/** Formats a definition as JSON, which is also valid YAML. */
function documentOf(name: string, type: string, body: unknown): string {
  const { interface: header, ...blocks } = body as { interface: object };
  return JSON.stringify({ [type]: { interface: { ...header, name, version: "1.0.0" }, ...blocks } });
}
