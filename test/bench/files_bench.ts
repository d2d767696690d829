/**
 * `bun run bench bundle` and `bun run bench parquet`: a bundle compared with `psql | zip -6` and with archiver on
 * Node.js, and Parquet compared with psql that copies the same values in binary.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { AS_OF, copyCommand, makeBenchProject, runShell } from "./bench_data.ts";
import { download, requireSameLines } from "./export_bench.ts";
import { cpuSeconds, peakBytes, resetPeak, residentBytes } from "./machine.ts";
import { type BenchRun, measureInTurn, metered } from "./measure.ts";
import { type Cell, type FigureTable, figure } from "./results.ts";
import { type BenchServer, type ProbedServer, startOurs, startPeer, startProbed } from "./servers.ts";

const MEGABYTE = 1e6;

/** The maximum time relative to `psql | zip -6`. */
const LIMIT_GOAL = { atMost: 0.9 };
/** The minimum speed relative to archiver. */
const SPEED_GOAL = { atLeast: 2 };

interface BundleBench {
  run: BenchRun;
  db: TestDatabase;
  ours: BenchServer;
  peer: BenchServer;
  person: Person;
  project: ProjectRow;
  directory: string;
}

export async function benchBundle(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  const issues = sizes.bundleIssues.toLocaleString("en");
  await using db = await openTestDatabase(run.serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const project = await command.step(`Making a project of ${issues} issues`, () =>
    makeBenchProject({ db, make, person }, sizes.bundleIssues, true),
  );
  await db.owner`vacuum analyze`;
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    await using ours = await startOurs(db.url);
    await using peer = await startPeer(command.root, { script: "fastify_exports", databaseUrl: db.url });
    const rows: Cell[][] = [];
    for (const format of TEXT_EXPORT_FORMATS) {
      rows.push(await benchFormat({ run, db, ours, peer, person, project, directory }, format));
    }
    return [
      { title: `A bundle of ${issues} issues, with rows in four other datasets`, header: HEADER, rows },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const HEADER = [
  "format",
  ...["HTTP s", "psql, zip -6 s", "ratio", "archiver s", "×"],
  ...["MB", "zip MB", "archiver MB", "CPU s", "zip CPU s", "archiver CPU s"],
];

async function benchFormat(bench: BundleBench, format: TextExportFormat): Promise<Cell[]> {
  const { run, db, ours, peer, person, project, directory } = bench;
  const path = `/api/v1/export/projects/${project.id}/bundle?format=${format}&as_of=${AS_OF}`;
  const files = { http: join(directory, "http.zip"), archiver: join(directory, "archiver.zip") };
  await download(`${ours.url}${path}`, { key: person.key, path: files.http });
  await download(`${peer.url}${path}`, { key: person.key, path: files.archiver });
  await requireSameLines(Object.values(files), format);
  const get = ({ url, pid }: BenchServer) =>
    metered({ cpu: () => cpuSeconds(pid) }, () => download(`${url}${path}`, person));
  const { http, psql, archiver } = await measureInTurn(run, `bundles, ${format}`, {
    tasks: {
      http: () => get(ours),
      psql: () => metered({}, () => zipByHand(db, { project, format, directory })),
      archiver: () => get(peer),
    },
    rounds: run.sizes.rounds,
  });
  return [
    format,
    figure(http.seconds, 3),
    figure(psql.seconds, 3),
    figure(http.seconds / psql.seconds, 2, LIMIT_GOAL),
    figure(archiver.seconds, 3),
    figure(archiver.seconds / http.seconds, 2, SPEED_GOAL),
    ...[http, psql, archiver].map(({ bytes = Number.NaN }) => figure(bytes / MEGABYTE, 1)),
    ...[http, psql, archiver].map(({ cpu = Number.NaN }) => figure(cpu, 2)),
  ];
}

/** Pipes the output of psql into zip as a single entry, with the bytes of the bundle's datasets in the same order. */
async function zipByHand(
  db: TestDatabase,
  given: { project: ProjectRow; format: TextExportFormat; directory: string },
): Promise<{ cpu: number; bytes: number }> {
  const { project, format, directory } = given;
  const path = join(directory, "zip.zip");
  const copies = EXPORT_DATASET_NAMES.map((name) => copyCommand(EXPORT_DATASETS[name], project, format));
  const { clientCpu } = await runShell(db, `{ ${copies.join("; ")}; } | zip -6 -q - - > "${path}"`);
  return { cpu: clientCpu, bytes: Bun.file(path).size };
}

/** Goals for issues per second, memory growth in MiB, and event loop delay in milliseconds. */
const RATE_GOAL = { atLeast: 100_000 };
const MEMORY_GOAL = { atMost: 128 };
const LOOP_GOAL = { atMost: 50 };
const MEBIBYTE = 2 ** 20;
const POLL_MS = 20;

/** Downloads the dataset. */
type Get = () => Promise<{ bytes: number }>;

export async function benchParquet(run: BenchRun): Promise<FigureTable[]> {
  await using db = await openTestDatabase(run.serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const [, issues] = run.sizes.issues;
  const project = await run.command.step(`Making ${issues.toLocaleString("en")} issues`, () =>
    makeBenchProject({ db, make, person }, issues, false),
  );
  await db.owner`vacuum analyze`;
  await using ours = await startProbed(db.url);
  const url = `${ours.url}/api/v1/export/projects/${project.id}/issues?format=parquet&as_of=${AS_OF}`;
  const get: Get = () => download(url, person);
  // Memory is measured first, in a process that has not streamed anything yet.
  const memory = await run.command.step("Measuring memory", () => benchMemory(ours, get));
  const rate = await benchRate(run, { db, ours, get, project });
  return [rate, memory, await benchLoop(run, { ours, get })];
}

async function benchRate(
  run: BenchRun,
  given: { db: TestDatabase; ours: ProbedServer; get: Get; project: { id: string } },
): Promise<FigureTable> {
  const { db, ours, get, project } = given;
  const copy = copyCommand(EXPORT_DATASETS.issues, project, "parquet");
  const [{ rows }] = await db.sql<[{ rows: number }]>`
    select count(*) as rows from issues where project_id = ${project.id} and deleted_at is null`;
  const read = await measureInTurn(run, "a dataset as Parquet", {
    rounds: run.sizes.rounds,
    tasks: {
      http: () => metered({ cpu: () => cpuSeconds(ours.pid) }, get),
      psql: () =>
        metered({ cpu: async () => 0 }, async () => ({
          bytes: 0,
          ...(await runShell(db, `${copy} > /dev/null`)),
        })),
    },
  });
  const { http, psql } = read;
  return {
    title: `${rows.toLocaleString("en")} issues as Parquet over HTTP, compared with psql \\copy of the same values in binary`,
    header: ["", "MB", "HTTP s", "psql s", "ratio", "issues a second", "issues a CPU second of the API"],
    rows: [
      [
        "issues",
        figure(http.bytes / 1e6, 1),
        figure(http.seconds, 3),
        figure(psql.seconds, 3),
        figure(http.seconds / psql.seconds, 2),
        figure(rows / http.seconds, 0, RATE_GOAL),
        figure(rows / http.cpu, 0),
      ],
    ],
  };
}

async function benchMemory({ pid }: ProbedServer, get: Get): Promise<FigureTable> {
  const rest = await residentBytes(pid);
  await resetPeak(pid);
  await get();
  const peak = await peakBytes(pid);
  return {
    title: "Peak memory of the API's process during Parquet exports",
    header: ["", "rest MiB", "peak MiB", "growth MiB"],
    rows: [
      [
        "a first download",
        figure(rest / MEBIBYTE, 1),
        figure(peak / MEBIBYTE, 1),
        figure((peak - rest) / MEBIBYTE, 1, MEMORY_GOAL),
      ],
    ],
  };
}

/**
 * Measures how long downloads block the event loop. Reports the minimum of the rounds, because other processes only add
 * to a delay.
 */
async function benchLoop(
  { command, sizes }: BenchRun,
  { ours, get }: { ours: ProbedServer; get: Get },
): Promise<FigureTable> {
  const rounds = await command.step("Polling during downloads", async () => {
    const all = [];
    while (all.length < sizes.loadRounds) {
      await ours.readLoop();
      const polls = await pollDuring(`${ours.url}/health/live`, get);
      all.push({ ...(await ours.readLoop()), polls });
    }
    return all;
  });
  const min = (values: readonly number[]): number => Math.min(...values);
  return {
    title: "The longest delay of the API's event loop during Parquet exports, in the best round",
    header: ["", "delay ms", "CPU ms", "longest GET /health/live, ms"],
    rows: [
      [
        "a download, polled by another client",
        figure(min(rounds.map(({ delayMs }) => delayMs)), 1, LOOP_GOAL),
        figure(min(rounds.map(({ cpuMs }) => cpuMs)), 1),
        figure(min(rounds.map(({ polls }) => polls)), 1),
      ],
    ],
  };
}

/** Polls the URL during a download. Returns the duration of the slowest poll in milliseconds. */
async function pollDuring(url: string, get: Get): Promise<number> {
  let isDone = false;
  const done = get().finally(() => {
    isDone = true;
  });
  let maxMs = 0;
  while (!isDone) {
    const begun = performance.now();
    await (await fetch(url)).arrayBuffer();
    maxMs = Math.max(maxMs, performance.now() - begun);
    await Bun.sleep(POLL_MS);
  }
  await done;
  return maxMs;
}
