/**
 * `bun run bench jobs`: builds of organization exports by the job runner against psql running the same SQL into
 * `zip -6` (the limit is its time), how a build's time grows with the rows, and the runner's memory. Needs psql and
 * zip. `--rows`, `--projects` and `--rounds` make it smaller.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/export_datasets.ts";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../shared/vocabulary.ts";
import { rowsQuery } from "../../sql/export_query.ts";
import { type ApiProcess, startApi } from "../helpers/api_process.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/factory.ts";
import { startRunner } from "../helpers/runner_process.ts";
import type { ServiceProcess } from "../helpers/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeBenchProject } from "./export_data.ts";
import { formatTable, measureInTurn } from "./measure.ts";
import { mebibytes, peakBytes, resetPeak, residentBytes } from "./peak_memory.ts";
import { copyStatement, everythingAsOf, runShell } from "./psql.ts";
import type { BenchSizes } from "./run_bench.ts";

/** Growth is shown from a hundredth of the rows to a tenth to all of them. */
const PARTS = [0.01, 0.1, 1] as const;
/** Rows of all eight datasets for an issue, see `export_data.ts`; the deleted ones of every fifty left out. */
const ROWS_AN_ISSUE = 2.3;
const AS_OF = "2026-11-20T00:00:00.000Z";
const BUILD_TIMEOUT_MS = 600_000;

interface BenchOrg {
  person: Person;
  projects: ProjectRow[];
}

interface Bench {
  db: TestDatabase;
  api: ApiProcess;
  runner: ServiceProcess;
  directory: string;
}

export async function benchJobs(command: Command, serverUrl: string, sizes: BenchSizes): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  await using db = await openTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  const orgs: BenchOrg[] = [];
  for (const part of PARTS) {
    const rows = Math.round(sizes.rows * part);
    const title = `Making ${sizes.projects} projects of ${rows.toLocaleString("en")} rows in all`;
    orgs.push(await command.progress.step(title, () => makeOrg(db, sizes.projects, rows)));
  }
  await db.sql`vacuum analyze`;
  const env = { DATABASE_URL: db.url, DATA_DIR: directory, EXPORT_JOBS_PER_HOUR: "1000" };
  try {
    await using api = await startApi(env);
    await using runner = await startRunner(env);
    const bench = { db, api, runner, directory };
    const { growth, memory } = await benchOrgs(bench, orgs, sizes.rounds);
    process.stdout.write(`\nAn organization export against psql | zip -6 of the same files\n\n${growth}\n`);
    process.stdout.write(`\nPeak memory of the job runner while it builds\n\n${memory}\n`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeOrg(db: TestDatabase, projects: number, rows: number): Promise<BenchOrg> {
  const make = createFactory(db.sql);
  const person = await make.person();
  const made: ProjectRow[] = [];
  const issues = Math.max(1, Math.round(rows / ROWS_AN_ISSUE / projects));
  while (made.length < projects) made.push(await makeBenchProject({ db, make, person }, issues, true));
  return { person, projects: made };
}

async function benchOrgs(
  bench: Bench,
  orgs: readonly BenchOrg[],
  rounds: number,
): Promise<{ growth: string; memory: string }> {
  const idle = await residentBytes(bench.runner.pid);
  const growth: string[][] = [];
  const memory: string[][] = [];
  for (const format of EXPORT_FORMATS) {
    let before = { rows: 0, seconds: Number.NaN };
    for (const org of orgs) {
      await resetPeak(bench.runner.pid);
      const { rows, seconds } = await benchOrg(bench, { org, format }, rounds);
      const name = `${rows.toLocaleString("en")} rows, ${format}`;
      const slope = ((seconds.job - before.seconds) / (rows - before.rows)) * 1e6;
      growth.push([
        name,
        seconds.job.toFixed(3),
        seconds.psql.toFixed(3),
        (seconds.job / seconds.psql).toFixed(2),
        ((seconds.job / rows) * 1e6).toFixed(2),
        Number.isNaN(slope) ? "" : slope.toFixed(2),
      ]);
      before = { rows, seconds: seconds.job };
      const peak = await peakBytes(bench.runner.pid);
      memory.push([name, mebibytes(idle), mebibytes(peak), mebibytes(peak - idle)]);
    }
  }
  const header = ["organization", "build s", "psql | zip -6 s", "ratio", "µs a row", "µs a further row"];
  return {
    growth: formatTable(header, growth),
    memory: formatTable(["build", "idle MiB", "peak MiB", "growth MiB"], memory),
  };
}

async function benchOrg(
  bench: Bench,
  { org, format }: { org: BenchOrg; format: ExportFormat },
  rounds: number,
): Promise<{ rows: number; seconds: { job: number; psql: number } }> {
  const script = join(bench.directory, "copies.sql");
  await writeFile(script, copyScript(org, format));
  // One session and one entry of the archive: the same bytes in the same order, at the least cost for the peer.
  const psql = `psql --no-psqlrc --quiet "$DATABASE_URL" --file "${script}"`;
  const peer = `${psql} | zip -6 -q - - > "${join(bench.directory, "peer.zip")}"`;
  let rows = 0;
  const seconds = await measureInTurn(
    {
      job: async () => {
        const built = await build(bench, { org, format });
        rows = built.rows;
        return built.seconds;
      },
      psql: () => runShell(bench.db, peer),
    },
    rounds,
  );
  return { rows, seconds };
}

function copyScript({ projects }: BenchOrg, format: ExportFormat): string {
  const copies = projects.flatMap((project) =>
    EXPORT_DATASET_NAMES.map((dataset) =>
      copyStatement(rowsQuery(EXPORT_DATASETS[dataset], everythingAsOf(AS_OF, project), format), format),
    ),
  );
  return ["set timezone = 'UTC'", ...copies].map((statement) => `${statement};\n`).join("");
}

/** Queues a job and waits until it is ready; its seconds are those from the beginning of its build. */
async function build(
  { db, api }: Bench,
  { org, format }: { org: BenchOrg; format: ExportFormat },
): Promise<{ rows: number; seconds: number }> {
  const {
    key,
    org: { slug },
  } = org.person;
  const response = await fetch(`${api.url}/api/v1/export/jobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-org-slug": slug, "content-type": "application/json" },
    body: JSON.stringify({ format, as_of: AS_OF }),
  });
  if (response.status !== 201) throw new Error(`Cannot queue a job: the answer is ${response.status}`);
  const { job } = (await response.json()) as { job: { id: string } };
  return waitFor(async () => {
    const [row] = await db.sql<{ status: string; rows: number; seconds: number }[]>`
      select status, rows_written as rows, extract(epoch from ready_at - started_at)::float8 as seconds
      from export_jobs
      where id = ${job.id}`;
    if (row?.status === "failed") throw new Error(`Cannot measure job "${job.id}": it has failed`);
    return row?.status === "ready" ? row : null;
  }, BUILD_TIMEOUT_MS);
}
