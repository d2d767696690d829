/**
 * `bun run bench bundle`: the bundle of a project over HTTP against `psql | zip -6` of the same rows and against archiver on
 * Node.js.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { TEXT_EXPORT_FORMATS, type TextExportFormat } from "../../shared/vocabulary.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import type { BenchRun } from "./bench_run.ts";
import { download } from "./download.ts";
import { makeBenchProject } from "./export_data.ts";
import { type Cell, type FigureTable, figure } from "./figures.ts";
import { measureInTurn, metered } from "./measure.ts";
import { cpuSeconds } from "./process_cpu.ts";
import { AS_OF, copyCommand, runShell } from "./psql.ts";
import { requireSameLines } from "./same_content.ts";
import { type BenchServer, startOurs, startPeer } from "./servers.ts";

const MEGABYTE = 1e6;

/** Issue 2. */
const LIMIT_GOAL = { atMost: 0.9 };
/** Issue 7. */
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
  const project = await command.progress.step(`Making a project of ${issues} issues`, () =>
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
    return [{ title: `A bundle of ${issues} issues and what hangs on them`, header: HEADER, rows }];
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

/** zip reads standard input as one entry: the same bytes in the same order. */
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
