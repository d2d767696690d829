/**
 * `bun run bench export`: one dataset over HTTP, compared with psql on the same SQL (the baseline) and with a typical
 * Node.js server. Also measures how time and memory grow with the number of rows.
 */
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { AS_OF, copyCommand, makeBenchProject, runShell } from "./bench_data.ts";
import {
  cpuSeconds,
  findPostmaster,
  peakBytes,
  resetPeak,
  residentBytes,
  serverCpuSeconds,
} from "./machine.ts";
import { type BenchRun, measureInTurn, metered, type Reading } from "./measure.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./results.ts";
import { type BenchServer, startOurs, startPeer } from "./servers.ts";

const MEBIBYTE = 2 ** 20;
const MEGABYTE = 1e6;

/** The maximum ratio to psql for large tables on several cores, where PostgreSQL builds the lines in parallel. */
const PARALLEL_GOAL = { atMost: 0.85 };
const LIMIT_GOAL = { atMost: 1.1 };
const PARALLEL_ISSUES = 200_000;
/** Goals relative to Node.js. */
const SPEED_GOAL = { atLeast: 2 };
const CPU_GOAL = { atMost: 0.5 };
/** The maximum growth of the time per row between two sizes, and of memory in MiB. */
const SLOPE_GOAL = { atMost: 1.1 };
const MEMORY_GOAL = { atMost: 48 };

interface ExportBench {
  run: BenchRun;
  db: TestDatabase;
  ours: BenchServer;
  peer: BenchServer;
  postmaster: number;
  person: Person;
  /** The projects by number of issues, smallest first. */
  projects: ReadonlyMap<number, ProjectRow>;
}

export async function benchExport(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  await using db = await openTestDatabase(run.serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const projects = new Map<number, ProjectRow>();
  for (const size of sizes.issues) {
    await command.step(`Making ${count(size)} issues`, async () => {
      projects.set(size, await makeBenchProject({ db, make, person }, size, false));
    });
  }
  await db.owner`vacuum analyze`;
  await using ours = await startOurs(db.url);
  await using peer = await startPeer(command.root, { script: "fastify_exports", databaseUrl: db.url });
  const postmaster = await findPostmaster(db.sql);
  const bench = { run, db, ours, peer, postmaster, person, projects };
  // Memory is measured first, in a process that has not streamed anything yet.
  const memory = await command.step("Measuring memory", () => benchMemory(bench));
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
  return { title: "Peak memory of the API's process during exports", header, rows };
}

/** The measurements of one download. Durations and CPU times are in seconds. */
interface ExportReading extends Reading {
  seconds: number;
  bytes: number;
  clientCpu: number;
  serverCpu: number;
}

interface Ways {
  http: ExportReading;
  psql: ExportReading;
  /** The measurements of the Node.js server; only at the middle size, because it is slow. */
  node?: ExportReading;
}

/**
 * Measures the downloads of all projects and formats. The cost of a row is the slope between two sizes, which excludes
 * the fixed cost of a download.
 */
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
      title: "One dataset over HTTP, compared with psql \\copy of the same SQL",
      header: ["dataset", "HTTP s", "psql s", "ratio", "µs a further row", "growth of that"],
      rows: limit,
    },
    {
      title: "One dataset over HTTP, compared with Fastify, pg-query-stream and fast-csv on Node.js",
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

/** Throws unless all URLs return the same bytes. Quotes in CSV are ignored, because fast-csv quotes fewer fields. */
export async function requireSameBytes(
  urls: readonly string[],
  { key, format }: { key: string; format: TextExportFormat },
): Promise<void> {
  const ignored = format === "csv" ? '"' : "";
  const digests = await Promise.all(urls.map((url) => digestOf(url, { key, ignored })));
  if (new Set(digests).size !== 1)
    throw new Error(`Cannot compare: not the same bytes come from ${urls.join(", ")}`);
}

async function digestOf(url: string, { key, ignored }: { key: string; ignored: string }): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok || !response.body) throw new Error(`Cannot compare: ${url} answers ${response.status}`);
  const hash = createHash("sha256");
  for await (const chunk of response.body) {
    hash.update(Buffer.from(chunk).toString("latin1").replaceAll(ignored, ""), "latin1");
  }
  return hash.digest("hex");
}

/** Throws unless the files with this extension have the same number of lines in all archives. */
export async function requireSameLines(archives: readonly string[], extension: string): Promise<void> {
  const counts = await Promise.all(archives.map((path) => countLines(path, extension)));
  if (new Set(counts).size !== 1)
    throw new Error(`Cannot compare: ${archives.join(", ")} have ${counts} lines`);
}

async function countLines(path: string, extension: string): Promise<number> {
  const script = `unzip -p "$1" "*.$2" | wc -l`;
  const child = Bun.spawn(["sh", "-c", script, "sh", path, extension], { stdout: "pipe", stderr: "inherit" });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`Cannot count the lines of ${path}`);
  return Number(text);
}

const OPTIONS = ["--silent", "--show-error", "--fail", "--write-out", "%{size_download}"];

/**
 * Downloads with curl to the file at `path`, or discards the bytes. Throws unless the response is successful and
 * complete.
 */
export async function download(
  url: string,
  { key, path = "/dev/null" }: { key: string; path?: string },
): Promise<{ bytes: number }> {
  const curl = Bun.spawn(
    ["curl", ...OPTIONS, "--output", path, "--header", "@-", url],
    // The key is passed on standard input, so that it does not appear in the process list.
    { stdin: new TextEncoder().encode(`Authorization: Bearer ${key}\n`), stdout: "pipe", stderr: "pipe" },
  );
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(curl.stdout).text(),
    new Response(curl.stderr).text(),
    curl.exited,
  ]);
  if (exitCode !== 0) throw new Error(`Cannot download ${url}: ${stderr}`);
  return { bytes: Number(stdout) };
}
