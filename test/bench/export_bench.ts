/**
 * `bun run bench export`: one dataset over HTTP against psql running the same SQL (the limit) and against the usual way on
 * Node.js, and how time and memory grow with the rows.
 */
import { availableParallelism } from "node:os";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import type { BenchRun } from "./bench_run.ts";
import { download } from "./download.ts";
import { makeBenchProject } from "./export_data.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./figures.ts";
import { measureInTurn, metered, type Reading } from "./measure.ts";
import { peakBytes, resetPeak, residentBytes } from "./peak_memory.ts";
import { cpuSeconds, findPostmaster, serverCpuSeconds } from "./process_cpu.ts";
import { AS_OF, copyCommand, runShell } from "./psql.ts";
import { requireSameBytes } from "./same_content.ts";
import { type BenchServer, startOurs, startPeer } from "./servers.ts";

const MEBIBYTE = 2 ** 20;
const MEGABYTE = 1e6;

/** Issue 7: as PostgreSQL makes the lines in parallel where a second core is free, and the tables are worth it. */
const PARALLEL_GOAL = { atMost: 0.85 };
const LIMIT_GOAL = { atMost: 1.1 };
const PARALLEL_ISSUES = 200_000;
/** Issue 7. */
const SPEED_GOAL = { atLeast: 2 };
const CPU_GOAL = { atMost: 0.5 };
/** Issue 2. */
const SLOPE_GOAL = { atMost: 1.1 };
const MEMORY_GOAL = { atMost: 48 };

interface ExportBench {
  run: BenchRun;
  db: TestDatabase;
  ours: BenchServer;
  peer: BenchServer;
  postmaster: number;
  person: Person;
  /** By number of issues, the smallest first. */
  projects: ReadonlyMap<number, ProjectRow>;
}

export async function benchExport(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  await using db = await openTestDatabase(run.serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const projects = new Map<number, ProjectRow>();
  for (const size of sizes.issues) {
    await command.progress.step(`Making ${count(size)} issues`, async () => {
      projects.set(size, await makeBenchProject({ db, make, person }, size, false));
    });
  }
  await db.owner`vacuum analyze`;
  await using ours = await startOurs(db.url);
  await using peer = await startPeer(command.root, { script: "fastify_exports", databaseUrl: db.url });
  const postmaster = await findPostmaster(db.sql);
  const bench = { run, db, ours, peer, postmaster, person, projects };
  // First, on a process that has streamed nothing yet.
  const memory = await command.progress.step("Measuring memory", () => benchMemory(bench));
  return [...(await benchDatasets(bench)), memory];
}

function count(rows: number): string {
  return rows.toLocaleString("en");
}

function pathOf(project: ProjectRow, format: TextExportFormat): string {
  return `/api/v1/export/projects/${project.id}/issues?format=${format}&as_of=${AS_OF}`;
}

async function benchMemory({ run, ours, person, projects }: ExportBench): Promise<FigureTable> {
  const idle = await residentBytes(ours.pid);
  const rows: Cell[][] = [];
  for (const [size, project] of projects) {
    for (const format of TEXT_EXPORT_FORMATS) {
      run.signal.throwIfAborted();
      await resetPeak(ours.pid);
      await download(`${ours.url}${pathOf(project, format)}`, person);
      const peak = await peakBytes(ours.pid);
      rows.push([
        `${count(size)} issues, ${format}`,
        figure(idle / MEBIBYTE, 1),
        figure(peak / MEBIBYTE, 1),
        figure((peak - idle) / MEBIBYTE, 1, MEMORY_GOAL),
      ]);
    }
  }
  const header = ["download", "idle MiB", "peak MiB", "growth MiB"];
  return { title: "Peak memory of the API's process while it streams", header, rows };
}

/** Processor time is in seconds. */
interface ExportReading extends Reading {
  seconds: number;
  bytes: number;
  clientCpu: number;
  serverCpu: number;
}

interface Ways {
  http: ExportReading;
  psql: ExportReading;
  /** At the middle size only: it takes its time. */
  node?: ExportReading;
}

/** What a row costs is the slope from one size to the next: what a download costs by itself falls out. */
async function benchDatasets(bench: ExportBench): Promise<FigureTable[]> {
  const limit: Cell[][] = [];
  const usual: Cell[][] = [];
  for (const format of TEXT_EXPORT_FORMATS) {
    let before = { size: 0, seconds: Number.NaN, slope: Number.NaN };
    for (const [size, project] of bench.projects) {
      const name = `${count(size)} issues, ${format}`;
      const isMiddle = size === bench.run.sizes.issues[1];
      const { http, psql, node } = await measureWays(bench, { name, project, format, isMiddle });
      const slope = ((http.seconds - before.seconds) / (size - before.size)) * 1e6;
      const growth = slope / before.slope;
      limit.push([
        name,
        figure(http.seconds, 3),
        figure(psql.seconds, 3),
        figure(http.seconds / psql.seconds, 2, limitGoal(size)),
        figure(slope, 2),
        figure(growth, 2, Number.isNaN(growth) ? undefined : SLOPE_GOAL),
      ]);
      if (node) usual.push(usualRow(name, { http, psql, node }));
      before = { size, seconds: http.seconds, slope };
    }
  }
  return [
    {
      title: "One dataset over HTTP against psql \\copy of the same SQL",
      header: ["dataset", "HTTP s", "psql s", "ratio", "µs a further row", "growth of that"],
      rows: limit,
    },
    {
      title: "The same against Fastify, pg-query-stream and fast-csv on Node.js",
      header: USUAL_HEADER,
      rows: usual,
    },
  ];
}

function limitGoal(size: number): Goal {
  return availableParallelism() > 1 && size >= PARALLEL_ISSUES ? PARALLEL_GOAL : LIMIT_GOAL;
}

const USUAL_HEADER = [
  "dataset",
  ...["MB", "HTTP s", "Node.js s", "×"],
  ...["CPU ms/MB", "its backend", "Node.js CPU", "its backend", "psql CPU", "its backend"],
  ...["CPU of server", "with backend"],
];

function usualRow(name: string, { http, psql, node }: Required<Ways>): Cell[] {
  const perMegabyte = (seconds: number) => (seconds * 1000) / (http.bytes / MEGABYTE);
  const cpu = [http, node, psql].flatMap(({ clientCpu, serverCpu }) => [clientCpu, serverCpu]);
  return [
    name,
    figure(http.bytes / MEGABYTE, 1),
    figure(http.seconds, 3),
    figure(node.seconds, 3),
    figure(node.seconds / http.seconds, 2, SPEED_GOAL),
    ...cpu.map((seconds) => figure(perMegabyte(seconds), 2)),
    figure(http.clientCpu / node.clientCpu, 2, CPU_GOAL),
    figure((http.clientCpu + http.serverCpu) / (node.clientCpu + node.serverCpu), 2, CPU_GOAL),
  ];
}

async function measureWays(
  bench: ExportBench,
  given: { name: string; project: ProjectRow; format: TextExportFormat; isMiddle: boolean },
): Promise<Ways> {
  const { run, db, ours, peer, postmaster, person } = bench;
  const { name, project, format, isMiddle } = given;
  const path = pathOf(project, format);
  const copy = copyCommand(EXPORT_DATASETS.issues, project, format);
  const serverCpu = () => serverCpuSeconds(postmaster);
  const get = ({ url, pid }: BenchServer) =>
    metered({ serverCpu, clientCpu: () => cpuSeconds(pid) }, () => download(`${url}${path}`, person));
  const byHand = async () => ({ bytes: Number.NaN, ...(await runShell(db, `${copy} > /dev/null`)) });
  const tasks = { http: () => get(ours), psql: () => metered({ serverCpu }, byHand) };
  const { rounds } = run.sizes;
  if (!isMiddle) return measureInTurn<"http" | "psql", ExportReading>(run, name, { tasks, rounds });
  await requireSameBytes([`${ours.url}${path}`, `${peer.url}${path}`], { key: person.key, format });
  const all = { ...tasks, node: () => get(peer) };
  return measureInTurn<keyof Ways, ExportReading>(run, name, { tasks: all, rounds });
}
