/**
 * `bun run bench citus`: the cost of exports from distributed tracker tables and of writes to them, and the time to settle a
 * watermark. Requires Citus (docs/scaling.md).
 */
import { createLog } from "../../shared/process/log.ts";
import { type Node, Nodes } from "../../sql/connection/nodes.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { settleAsOf } from "../../sql/exports/settle_as_of.ts";
import { distributeTracker } from "../../sql/tracker/distribute_tracker.ts";
import { listTrackerNodes } from "../../sql/tracker/tracker_shards.ts";
import { CitusCluster } from "../helpers/postgres/citus_cluster.ts";
import { openUndistributedDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { makeBenchProject } from "./bench_data.ts";
import { download } from "./export_bench.ts";
import { cpuSeconds, serverCpuSeconds } from "./machine.ts";
import { type BenchRun, measureInTurn, metered } from "./measure.ts";
import { type FigureTable, figure } from "./results.ts";
import { startOurs } from "./servers.ts";

const WORKERS = 8;
/** The numbers of nodes for which settling a watermark is measured. */
const NODE_COUNTS = [0, 1, 2, 4, 8] as const;
const WATERMARKS = 20;
const WRITES = 50;
const MB = 1e6;

interface Bench {
  run: BenchRun;
  cluster: CitusCluster;
  db: TestDatabase;
  person: Person;
  project: ProjectRow;
}

export async function benchCitus(run: BenchRun): Promise<FigureTable[]> {
  await using cluster = new CitusCluster({ workers: WORKERS });
  await run.command.step("Starting a cluster", () => cluster.serve());
  await using db = await openUndistributedDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  const project = await makeBenchProject({ db, make, person }, run.sizes.issues[1], false);
  await db.owner`vacuum analyze issues`;
  const bench = { run, cluster, db, person, project };
  const before = [await measureExport(bench), await measureWrites(bench)] as const;
  await run.command.step("Distributing the tracker tables", () => distributeTracker(db.owner, () => {}));
  await db.owner`vacuum analyze issues`;
  const after = [await measureExport(bench), await measureWrites(bench)] as const;
  return [exportTable(before[0], after[0]), writeTable(before[1], after[1]), await benchWatermark(bench)];
}

type ExportCost = Record<"seconds" | "bytes" | "api" | "coordinator" | "nodes", number>;

/** Measures a download: its duration, its size, and the CPU seconds of the API, the coordinator and the nodes. */
async function measureExport({ run, cluster, db, person, project }: Bench): Promise<ExportCost> {
  await using ours = await startOurs(db.url);
  const url = `${ours.url}/api/v1/export/projects/${project.id}/issues`;
  const meters = {
    api: () => cpuSeconds(ours.pid),
    coordinator: () => serverCpuSeconds(cluster.coordinator.pid),
    nodes: async () => {
      const seconds = await Promise.all(cluster.workers.map(({ pid }) => serverCpuSeconds(pid)));
      return seconds.reduce((sum, each) => sum + each, 0);
    },
  };
  const read = await measureInTurn(run, "an export", {
    rounds: run.sizes.rounds,
    tasks: { export: () => metered(meters, () => download(url, { key: person.key })) },
  });
  return read.export;
}

function exportTable(plain: ExportCost, distributed: ExportCost): FigureTable {
  const row = (name: string, { seconds, bytes, api, coordinator, nodes }: ExportCost) => {
    const perMb = (cpu: number) => figure((1000 * cpu) / (bytes / MB), 2);
    return [name, figure(bytes / MB, 0), figure(seconds, 2), perMb(api), perMb(coordinator), perMb(nodes)];
  };
  return {
    title: "One dataset of one project: CPU time of each server, in ms per MB",
    header: ["", "MB", "s", "API", "coordinator", "nodes"],
    rows: [row("one server", plain), row("on its node", distributed)],
  };
}

interface WriteCost {
  insert: number;
  transaction: number;
}

/** Measures the milliseconds of a single insert, and of a transaction with a run and 20 issues. */
async function measureWrites({ run, db, project }: Bench): Promise<WriteCost> {
  const { sql } = db;
  const read = await measureInTurn(run, "a tracker's writes", {
    rounds: run.sizes.loadRounds,
    tasks: {
      insert: () => timed(() => insertRun(sql, project.id)),
      transaction: () =>
        timed(() =>
          sql.begin(async (tx) => {
            const run = await insertRun(tx, project.id);
            await tx`
              insert into issues (project_id, fingerprint, title, status, priority, first_seen_run_id, last_seen_run_id)
              select ${project.id}, md5(random()::text) || md5(n::text), 'Result is used before it is checked', 'open', 'high', ${run}::uuid, ${run}::uuid
              from generate_series(1, 20) as n`;
          }),
        ),
    },
  });
  return { insert: read.insert.ms, transaction: read.transaction.ms };
}

async function insertRun(sql: Sql, projectId: string): Promise<string> {
  const [run] = await sql<[{ id: string }]>`
    insert into runs (project_id, run_number, workflow_type, "timestamp")
    values (${projectId}, ${Math.ceil(Math.random() * 2e9)}, 'review', now())
    returning id`;
  return run.id;
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number }> {
  const begun = performance.now();
  for (let done = 0; done < WRITES; done += 1) await work();
  return { ms: (performance.now() - begun) / WRITES };
}

function writeTable(plain: WriteCost, distributed: WriteCost): FigureTable {
  const row = (name: string, { insert, transaction }: WriteCost) => [
    name,
    figure(insert, 1),
    figure(transaction, 1),
  ];
  return {
    title: "A tracker's writes, in ms",
    header: ["", "one row by itself", "a transaction of 21 rows"],
    rows: [row("one server", plain), row("through the coordinator", distributed)],
  };
}

/** Measures how long `settleAsOf` takes with different numbers of nodes. */
async function benchWatermark({ run, cluster, db }: Bench): Promise<FigureTable> {
  const url = db.url;
  const log = createLog({ level: "silent", process: "bench", destination: { write: () => {} } });
  const nodes = new Nodes({ url, applicationName: "ulr-api", max: 1, log });
  try {
    const all = (await listTrackerNodes(db.sql)).map((address) => nodes.at(address));
    const count = (number: number) => timedWatermarks(db.sql, all.slice(0, number));
    const read = await measureInTurn(run, "watermarks", {
      rounds: run.sizes.loadRounds,
      tasks: Object.fromEntries(NODE_COUNTS.map((number) => [String(number), () => count(number)])),
    });
    return {
      title: `A watermark over some of the ${cluster.workers.length} nodes, in ms`,
      header: NODE_COUNTS.map(String),
      rows: [NODE_COUNTS.map((number) => figure(read[String(number)]?.ms ?? Number.NaN, 1))],
    };
  } finally {
    await nodes.close();
  }
}

async function timedWatermarks(sql: Pool, nodes: readonly Node[]): Promise<{ ms: number }> {
  const begun = performance.now();
  for (let done = 0; done < WATERMARKS; done += 1) await settleAsOf(sql, { nodes });
  return { ms: (performance.now() - begun) / WATERMARKS };
}
