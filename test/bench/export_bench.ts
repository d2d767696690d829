/**
 * `bun run bench export`: downloads over HTTP against psql running the same SQL (the limit), how time and memory grow
 * with the rows, and bundles against `psql | zip -6`. Needs psql, zip and curl.
 */
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/export_datasets.ts";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { EXPORT_FORMATS } from "../../shared/vocabulary.ts";
import { rowsQuery } from "../../sql/export_query.ts";
import { type ApiProcess, startApi } from "../helpers/api_process.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/factory.ts";
import { download } from "./download.ts";
import { makeBenchProject } from "./export_data.ts";
import { formatTable, measureInTurn } from "./measure.ts";
import { mebibytes, peakBytes, resetPeak, residentBytes } from "./peak_memory.ts";
import { copyCommand, everythingAsOf, runShell } from "./psql.ts";

const SIZES = [20_000, 200_000, 1_000_000] as const;
const BUNDLE_ISSUES = 60_000;
const ROUNDS = 5;
const AS_OF = "2026-11-20T00:00:00.000Z";

interface Bench {
  db: TestDatabase;
  api: ApiProcess;
  person: Person;
}

export async function benchExport(command: Command, serverUrl: string): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  const projects = new Map<number, ProjectRow>();
  const { progress } = command;
  for (const size of SIZES) {
    await progress.step(`Making ${size.toLocaleString("en")} issues`, async () => {
      projects.set(size, await makeBenchProject({ db, make, person }, size, false));
    });
  }
  const bundled = await progress.step("Making a project for bundles", () =>
    makeBenchProject({ db, make, person }, BUNDLE_ISSUES, true),
  );
  await db.sql`vacuum analyze`;
  await using api = await startApi({
    DATABASE_URL: db.url,
    EXPORT_SYNC_MAX_ROWS: "10000000",
    EXPORT_BUNDLE_MAX_ROWS: "10000000",
  });
  const bench = { db, api, person };
  say("Peak memory of the API process while it streams", await benchMemory(bench, projects, bundled));
  say("One dataset over HTTP against psql \\copy of the same SQL", await benchDatasets(bench, projects));
  say("A bundle over HTTP against psql | zip -6 of the same rows", await benchBundles(bench, bundled));
}

function say(title: string, table: string): void {
  process.stdout.write(`\n${title}\n\n${table}\n`);
}

function path(project: ProjectRow, rest: string): string {
  return `/api/v1/export/projects/${project.id}/${rest}`;
}

/** The first row is measured first, on a process that has streamed nothing yet. */
async function benchMemory(
  { api, person }: Bench,
  projects: ReadonlyMap<number, ProjectRow>,
  bundled: ProjectRow,
): Promise<string> {
  const idle = await residentBytes(api.pid);
  const downloads = [...projects].flatMap(([size, project]) =>
    EXPORT_FORMATS.map((format) => [
      `${size.toLocaleString("en")} issues, ${format}`,
      path(project, `issues?format=${format}`),
    ]),
  );
  downloads.push(["a bundle", path(bundled, "bundle")]);
  const rows: string[][] = [];
  for (const [name = "", url = ""] of downloads) {
    await resetPeak(api.pid);
    await download(`${api.url}${url}`, person.key);
    const peak = await peakBytes(api.pid);
    rows.push([name, mebibytes(idle), mebibytes(peak), mebibytes(peak - idle)]);
  }
  return formatTable(["download", "idle MiB", "peak MiB", "growth MiB"], rows);
}

/** What a row costs is the slope from one size to the next: what a download costs by itself falls out. */
async function benchDatasets(
  { db, api, person }: Bench,
  projects: ReadonlyMap<number, ProjectRow>,
): Promise<string> {
  const rows: string[][] = [];
  for (const format of EXPORT_FORMATS) {
    let before = { size: 0, seconds: Number.NaN };
    for (const [size, project] of projects) {
      const query = rowsQuery(EXPORT_DATASETS.issues, everythingAsOf(AS_OF, project), format);
      const url = path(project, `issues?format=${format}&as_of=${AS_OF}`);
      const seconds = await measureInTurn(
        {
          http: () => download(`${api.url}${url}`, person.key),
          psql: () => runShell(db, `${copyCommand(query, format)} > /dev/null`),
        },
        ROUNDS,
      );
      const slope = ((seconds.http - before.seconds) / (size - before.size)) * 1e6;
      rows.push([
        `${size.toLocaleString("en")} issues, ${format}`,
        seconds.http.toFixed(3),
        seconds.psql.toFixed(3),
        (seconds.http / seconds.psql).toFixed(2),
        Number.isNaN(slope) ? "" : slope.toFixed(2),
      ]);
      before = { size, seconds: seconds.http };
    }
  }
  return formatTable(["dataset", "HTTP s", "psql s", "ratio", "µs per further row"], rows);
}

async function benchBundles({ db, api, person }: Bench, project: ProjectRow): Promise<string> {
  const rows: string[][] = [];
  for (const format of EXPORT_FORMATS) {
    const copies = EXPORT_DATASET_NAMES.map((name) =>
      copyCommand(rowsQuery(EXPORT_DATASETS[name], everythingAsOf(AS_OF, project), format), format),
    );
    // zip reads standard input as one entry: the same bytes in the same order.
    const peer = `{ ${copies.join("; ")}; } | zip -6 -q - - > /dev/null`;
    const seconds = await measureInTurn(
      {
        http: () =>
          download(`${api.url}${path(project, `bundle?format=${format}&as_of=${AS_OF}`)}`, person.key),
        psql: () => runShell(db, peer),
      },
      ROUNDS,
    );
    rows.push([
      `bundle of ${BUNDLE_ISSUES.toLocaleString("en")} issues, ${format}`,
      seconds.http.toFixed(3),
      seconds.psql.toFixed(3),
      (seconds.http / seconds.psql).toFixed(2),
    ]);
  }
  return formatTable(["bundle", "HTTP s", "psql | zip -6 s", "ratio"], rows);
}
