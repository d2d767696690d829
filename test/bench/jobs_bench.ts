/**
 * `bun run bench jobs`: organization exports by the job runner, compared with psql on the same SQL piped into `zip -6`
 * (the baseline) and with archiver on Node.js. Also measures how a build's time grows with the rows, and the runner's
 * memory.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { type ExportFormat, TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import type { ServiceProcess } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { AS_OF, copyStatement, makeBenchProject, ROWS_AN_ISSUE, runShell } from "./bench_data.ts";
import { peakBytes, resetPeak, residentBytes } from "./machine.ts";
import { type BenchRun, measureInTurn, metered, type Reading } from "./measure.ts";
import { type Cell, type FigureTable, figure } from "./results.ts";
import { type BenchServer, startOurs, startPeer } from "./servers.ts";

const MEBIBYTE = 2 ** 20;
const MEGABYTE = 1e6;
/** The shares of `orgRows` with which builds are measured. */
const PARTS = [0.01, 0.1, 1] as const;
/** The share of `orgRows` with which builds are compared with archiver. */
const PEER_PART = 0.1;
/** The maximum number of rounds, because builds take long. */
const MOST_ROUNDS = 3;

/** Goals for the time relative to `psql | zip -6`, the growth of the time per row, and the memory growth in MiB. */
const LIMIT_GOAL = { atMost: 1 };
const SLOPE_GOAL = { atMost: 1.1 };
const MEMORY_GOAL = { atMost: 96 };
/** The minimum speed relative to archiver. */
const SPEED_GOAL = { atLeast: 2 };

interface JobsBench {
  run: BenchRun;
  db: TestDatabase;
  ours: BenchServer;
  peer: BenchServer;
  runner: ServiceProcess;
  directory: string;
}

interface Part {
  part: (typeof PARTS)[number];
  org: BenchOrg;
  format: TextExportFormat;
}

export async function benchJobs(run: BenchRun): Promise<FigureTable[]> {
  const { command, sizes } = run;
  await using db = await openTestDatabase(run.serverUrl);
  const orgs: Pick<Part, "part" | "org">[] = [];
  for (const part of PARTS) {
    const rows = Math.round(sizes.orgRows * part);
    const title = `Making ${sizes.orgProjects} projects of ${rows.toLocaleString("en")} rows in all`;
    const made = { projects: sizes.orgProjects, rows };
    orgs.push({ part, org: await command.step(title, () => makeOrg(db, made)) });
  }
  await db.owner`vacuum analyze`;
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    await using ours = await startOurs(db.url, { dataDirectory: directory });
    await using peer = await startPeer(command.root, { script: "fastify_exports", databaseUrl: db.url });
    await using runner = await startRunner({ DATABASE_URL: db.url, DATA_DIR: directory });
    return await benchOrgs({ run, db, ours, peer, runner, directory }, orgs);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function benchOrgs(
  bench: JobsBench,
  orgs: readonly Pick<Part, "part" | "org">[],
): Promise<FigureTable[]> {
  const idle = await residentBytes(bench.runner.pid);
  const builds: Cell[][] = [];
  const usual: Cell[][] = [];
  const memory: Cell[][] = [];
  for (const format of TEXT_EXPORT_FORMATS) {
    let before = { rows: 0, seconds: Number.NaN, slope: Number.NaN };
    for (const { part, org } of orgs) {
      await resetPeak(bench.runner.pid);
      const { job, psql, archiver } = await measureBuilds(bench, { part, org, format });
      const { rows, seconds } = job;
      const name = `${rows.toLocaleString("en")} rows, ${format}`;
      const slope = ((seconds - before.seconds) / (rows - before.rows)) * 1e6;
      const growth = slope / before.slope;
      builds.push([
        name,
        figure(seconds, 3),
        figure(psql.seconds, 3),
        figure(seconds / psql.seconds, 2, part === 1 ? LIMIT_GOAL : undefined),
        figure((seconds / rows) * 1e6, 2),
        figure(slope, 2),
        figure(growth, 2, Number.isNaN(growth) ? undefined : SLOPE_GOAL),
        ...[job, psql].map(({ bytes }) => figure(bytes / MEGABYTE, 1)),
      ]);
      before = { rows, seconds, slope };
      if (archiver) usual.push(usualRow(name, job, archiver));
      const peak = await peakBytes(bench.runner.pid);
      memory.push([
        name,
        figure(idle / MEBIBYTE, 1),
        figure(peak / MEBIBYTE, 1),
        figure((peak - idle) / MEBIBYTE, 1, MEMORY_GOAL),
      ]);
    }
  }
  const memoryHeader = ["build", "idle MiB", "peak MiB", "growth MiB"];
  return [
    {
      title: "An organization export, compared with psql | zip -6 of the same files",
      header: BUILD_HEADER,
      rows: builds,
    },
    { title: "An organization export, compared with archiver on Node.js", header: USUAL_HEADER, rows: usual },
    { title: "Peak memory of the job runner during builds", header: memoryHeader, rows: memory },
  ];
}

const BUILD_HEADER = [
  "organization",
  ...["build s", "psql, zip -6 s", "ratio", "µs a row", "µs a further row", "growth of that", "MB", "zip MB"],
];
const USUAL_HEADER = ["organization", "build s", "archiver s", "×", "MB", "archiver MB"];

function usualRow(name: string, job: BuildReading, archiver: BuildReading): Cell[] {
  return [
    name,
    figure(job.seconds, 3),
    figure(archiver.seconds, 3),
    figure(archiver.seconds / job.seconds, 2, SPEED_GOAL),
    ...[job, archiver].map(({ bytes }) => figure(bytes / MEGABYTE, 1)),
  ];
}

interface BuildReading extends Reading {
  seconds: number;
  rows: number;
  bytes: number;
}

async function measureBuilds(
  bench: JobsBench,
  { part, org, format }: Part,
): Promise<{ job: BuildReading; psql: BuildReading; archiver?: BuildReading }> {
  const { run, db, ours, peer, directory } = bench;
  const script = join(directory, "copies.sql");
  await writeFile(script, copyScript(org, format));
  const zip = join(directory, "zip.zip");
  const tasks = {
    job: () => buildByJob({ db, ours }, { org, format }),
    psql: () =>
      metered({}, async () => {
        await runShell(db, buildByHand(script, zip));
        return { rows: 0, bytes: Bun.file(zip).size };
      }),
  };
  const archiver = () =>
    metered({}, async () => ({
      rows: 0,
      ...(await buildByPeer(peer, { org, format, path: join(directory, "archiver.zip") })),
    }));
  const rounds = Math.min(run.sizes.rounds, MOST_ROUNDS);
  const title = `builds of ${(run.sizes.orgRows * part).toLocaleString("en")} rows, ${format}`;
  // The type is widened, so that one call can measure two or three tasks.
  const all: Record<string, () => Promise<BuildReading>> =
    part === PEER_PART ? { ...tasks, archiver } : tasks;
  const read = await measureInTurn(run, title, { tasks: all, rounds });
  const { job, psql } = read;
  if (!job || !psql) throw new Error("Cannot compare builds: some were not measured");
  return { job, psql, ...(read["archiver"] ? { archiver: read["archiver"] } : {}) };
}

const BUILD_TIMEOUT_MS = 600_000;

export interface BenchOrg {
  person: Person;
  projects: ProjectRow[];
}

export interface BuildRequest {
  org: BenchOrg;
  format: ExportFormat;
}

/** Creates an organization with this many projects and about this many rows in total. */
export async function makeOrg(db: TestDatabase, size: { projects: number; rows: number }): Promise<BenchOrg> {
  const make = createFactory(db.sql);
  const person = await make.person();
  const projects: ProjectRow[] = [];
  const issues = Math.max(1, Math.round(size.rows / ROWS_AN_ISSUE / size.projects));
  while (projects.length < size.projects) {
    projects.push(await makeBenchProject({ db, make, person }, issues, true));
  }
  return { person, projects };
}

/** Queues a job and waits until it is ready. Returns its rows, bytes and build time. */
export async function buildByJob(
  { db, ours }: { db: TestDatabase; ours: BenchServer },
  { org, format }: BuildRequest,
): Promise<{ rows: number; bytes: number; seconds: number }> {
  const { key, org: owner } = org.person;
  const response = await fetch(`${ours.url}/api/v1/export/jobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-org-slug": owner.slug, "content-type": "application/json" },
    body: JSON.stringify({ format, as_of: AS_OF }),
  });
  if (response.status !== 201) throw new Error(`Cannot queue a job: the answer is ${response.status}`);
  const { job } = (await response.json()) as { job: { id: string } };
  return waitFor(async () => {
    const [row] = await db.sql<{ status: string; rows: number; bytes: number; seconds: number }[]>`
      select status, rows_written as rows, artifact_bytes as bytes,
        extract(epoch from ready_at - started_at)::float8 as seconds
      from export_jobs
      where id = ${job.id}`;
    if (row?.status === "failed") throw new Error(`Cannot measure job "${job.id}": it has failed`);
    return row?.status === "ready" ? { rows: row.rows, bytes: row.bytes, seconds: row.seconds } : null;
  }, BUILD_TIMEOUT_MS);
}

/** Returns a psql script with the COPY statements of all files. */
export function copyScript({ projects }: BenchOrg, format: TextExportFormat): string {
  const copies = projects.flatMap((project) =>
    EXPORT_DATASET_NAMES.map((dataset) => copyStatement(EXPORT_DATASETS[dataset], project, format)),
  );
  return ["set timezone = 'UTC'", ...copies].map((statement) => `${statement};\n`).join("");
}

/**
 * Returns a shell command that archives the same bytes as a job, in the same order. One psql session and one archive
 * entry keep its cost as low as possible.
 */
export function buildByHand(script: string, path: string): string {
  return `psql --no-psqlrc --quiet "$DATABASE_URL" --file "${script}" | zip -6 -q - - > "${path}"`;
}

/** Builds the organization export on the peer, with the same number of dataset files. */
export async function buildByPeer(
  peer: BenchServer,
  { org, format, path }: BuildRequest & { path: string },
): Promise<{ bytes: number }> {
  const projects = org.projects.map(({ id }) => id);
  const response = await fetch(`${peer.url}/builds`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ projects, format, asOf: AS_OF, path }),
  });
  if (!response.ok) throw new Error(`Cannot measure the peer's build: the answer is ${response.status}`);
  const { data } = (await response.json()) as { data: { bytes: number } };
  return data;
}
