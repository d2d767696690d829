/** `bun run bench parquet`: a dataset as Parquet over HTTP, while another client polls the API. */
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import type { BenchRun } from "./bench_run.ts";
import { download } from "./download.ts";
import { makeBenchProject } from "./export_data.ts";
import { type FigureTable, figure } from "./figures.ts";
import { measureInTurn, metered } from "./measure.ts";
import { peakBytes, resetPeak, residentBytes } from "./peak_memory.ts";
import { type ProbedServer, startProbed } from "./probed_server.ts";
import { cpuSeconds } from "./process_cpu.ts";
import { AS_OF, copyCommand, runShell } from "./psql.ts";

/** Issue 16. */
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
  const project = await run.command.progress.step(`Making ${issues.toLocaleString("en")} issues`, () =>
    makeBenchProject({ db, make, person }, issues, false),
  );
  await db.owner`vacuum analyze`;
  await using ours = await startProbed(db.url);
  const url = `${ours.url}/api/v1/export/projects/${project.id}/issues?format=parquet&as_of=${AS_OF}`;
  const get: Get = () => download(url, person);
  // First, on a process that has streamed nothing yet.
  const memory = await run.command.progress.step("Measuring memory", () => benchMemory(ours, get));
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
    title: `${rows.toLocaleString("en")} issues as Parquet over HTTP against psql \\copy of the same values in binary`,
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
    title: "Peak memory of the API's process while it writes Parquet",
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

/** The round in which the loop was blocked the least: other processes only ever add to it. */
async function benchLoop(
  { command, sizes }: BenchRun,
  { ours, get }: { ours: ProbedServer; get: Get },
): Promise<FigureTable> {
  const rounds = await command.progress.step("Polling during downloads", async () => {
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
    title: "The longest block of the API's event loop meanwhile, in the best of the rounds",
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

/** Returns how long the slowest poll took, in milliseconds. */
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
