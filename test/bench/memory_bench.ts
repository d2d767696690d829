/** `bun run bench memory`: the memory of each process at rest and at its peak. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_FORMATS, type ExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { AS_OF, makeBenchProject } from "./bench_data.ts";
import { download } from "./export_bench.ts";
import { CONNECTIONS, runLoad } from "./http_load.ts";
import { type BenchOrg, buildByJob } from "./jobs_bench.ts";
import { peakBytes, resetPeak, residentBytes } from "./machine.ts";
import type { BenchRun } from "./measure.ts";
import { startScheduledSync, withLargeDocument } from "./reads_bench.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./results.ts";
import { type BenchServer, startOurs } from "./servers.ts";

const MEBIBYTE = 2 ** 20;
const DOWNLOADS_AT_ONCE = 8;
const SYNC_TIMEOUT_MS = 30_000;
/** The maximum growth of the API above memory at rest during an export in a text format, in MiB. */
const STREAM_GOAL = { atMost: 48 };
/** The maximum growth above memory at rest for Parquet, in MiB. A Parquet export keeps a row group in memory. */
const PARQUET_GOAL = { atMost: 128 };
/** The maximum growth of the job runner above memory at rest during a build in a text format, in MiB. */
const BUILD_GOAL = { atMost: 96 };
/** The maximum memory of a sync in MiB, including memory at rest. */
const SYNC_GOAL = { atMost: 200 };

interface MemoryBench {
  run: BenchRun;
  db: TestDatabase;
  ours: BenchServer;
  org: BenchOrg;
}

interface Load {
  name: string;
  /** The goal for the increase above memory at rest. */
  goal?: Goal;
  put: () => Promise<unknown>;
}

export async function benchMemory(run: BenchRun): Promise<FigureTable[]> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    await using db = await openTestDatabase(run.serverUrl);
    const make = createFactory(db.sql);
    const person = await make.person();
    const [, issues] = run.sizes.issues;
    const project = await run.command.step(`Making ${issues.toLocaleString("en")} issues`, () =>
      makeBenchProject({ db, make, person }, issues, true),
    );
    await db.owner`vacuum analyze`;
    const rows = await watchSync(run, db);
    await using ours = await startOurs(db.url, { dataDirectory: directory });
    // The request waits until the API has loaded the catalog that `watchSync` stored. The catalog is part of the API's
    // memory at rest.
    await (await fetch(`${ours.url}/api/v1/models?limit=1`)).text();
    await using runner = await startRunner({ DATABASE_URL: db.url, DATA_DIR: directory });
    const bench = { run, db, ours, org: { person, projects: [project] } };
    rows.unshift(...(await watch(bench, { process: "api", pid: ours.pid, loads: apiLoads(bench) })));
    rows.push(...(await watch(bench, { process: "jobs", pid: runner.pid, loads: buildLoads(bench) })));
    const title = `A project of ${issues.toLocaleString("en")} issues, with rows in four other datasets`;
    return [{ title, header: ["process", "rest MiB", "peak MiB", "growth MiB"], rows }];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Measures the scheduled sync, which fills an empty catalog at startup and then waits. */
async function watchSync({ command }: BenchRun, db: TestDatabase): Promise<Cell[][]> {
  return command.step("Measuring catalog-sync", () =>
    withLargeDocument(async (documentPath) => {
      await using sync = startScheduledSync(command.root, { databaseUrl: db.url, documentPath });
      await waitFor(async () => {
        const [row] = await db.sql`select from catalog_syncs where error is null and finished_at is not null`;
        return row !== undefined;
      }, SYNC_TIMEOUT_MS);
      const [rest, peak] = [await residentBytes(sync.pid), await peakBytes(sync.pid)];
      const held = [figure(rest / MEBIBYTE, 1), figure(peak / MEBIBYTE, 1, SYNC_GOAL), ""];
      return [["catalog-sync: a first sync", ...held]];
    }),
  );
}

function streamGoal(format: ExportFormat): Goal {
  return format === "parquet" ? PARQUET_GOAL : STREAM_GOAL;
}

function apiLoads({ run, ours, org }: MemoryBench): Load[] {
  const [project] = org.projects;
  const base = `${ours.url}/api/v1/export/projects/${project?.id}`;
  const get = (path: string) => download(`${base}/${path}&as_of=${AS_OF}`, org.person);
  const read = (path: string, headers: Record<string, string> = {}) =>
    runLoad({
      url: `${ours.url}${path}`,
      headers,
      connections: CONNECTIONS * 10,
      seconds: run.sizes.loadSeconds,
    });
  const authorization = { Authorization: `Bearer ${org.person.key}` };
  return [
    ...EXPORT_FORMATS.flatMap((format) => [
      { name: `a download, ${format}`, goal: streamGoal(format), put: () => get(`issues?format=${format}`) },
      { name: `a bundle, ${format}`, goal: streamGoal(format), put: () => get(`bundle?format=${format}`) },
    ]),
    {
      name: `${DOWNLOADS_AT_ONCE} downloads at once`,
      put: () => Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, () => get("issues?format=ndjson"))),
    },
    {
      name: `${CONNECTIONS * 10} clients read a user`,
      put: () => read(`/api/v1/users/${org.person.user.id}`, authorization),
    },
    { name: `${CONNECTIONS * 10} clients read the catalog`, put: () => read("/api/v1/models") },
  ];
}

function buildLoads({ db, ours, org }: MemoryBench): Load[] {
  return EXPORT_FORMATS.map((format) => ({
    name: `a build, ${format}`,
    goal: format === "parquet" ? PARQUET_GOAL : BUILD_GOAL,
    put: () => buildByJob({ db, ours }, { org, format }),
  }));
}

/**
 * Applies the loads one after another and reads the peak memory of each. Memory at rest is read before the first load.
 */
async function watch(
  { run: { command, signal } }: MemoryBench,
  watched: { process: string; pid: number; loads: readonly Load[] },
): Promise<Cell[][]> {
  const { process: name, pid, loads } = watched;
  const rest = await residentBytes(pid);
  const rows: Cell[][] = [];
  await command.step(`Measuring ${name}`, async (note) => {
    for (const load of loads) {
      signal.throwIfAborted();
      note(load.name);
      await resetPeak(pid);
      await load.put();
      rows.push([`${name}: ${load.name}`, ...memoryCells({ rest, peak: await peakBytes(pid) }, load)]);
    }
  });
  return rows;
}

function memoryCells({ rest, peak }: { rest: number; peak: number }, { goal }: Pick<Load, "goal">): Cell[] {
  return [figure(rest / MEBIBYTE, 1), figure(peak / MEBIBYTE, 1), figure((peak - rest) / MEBIBYTE, 1, goal)];
}
