/** Builds of an organization's export: by the job runner, by psql and zip, and by archiver. */
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import type { ExportFormat, TextExportFormat } from "../../shared/vocabulary.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person, type ProjectRow } from "../helpers/postgres/factory.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeBenchProject, ROWS_AN_ISSUE } from "./export_data.ts";
import { AS_OF, copyStatement } from "./psql.ts";
import type { BenchServer } from "./servers.ts";

const BUILD_TIMEOUT_MS = 600_000;

export interface BenchOrg {
  person: Person;
  projects: ProjectRow[];
}

export interface BuildRequest {
  org: BenchOrg;
  format: ExportFormat;
}

/** Makes an organization of so many projects, and of about so many rows in all. */
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

/** Queues a job and waits until it is ready; its seconds are those from the beginning of its build. */
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

/** The copies of all files as a script of psql. */
export function copyScript({ projects }: BenchOrg, format: TextExportFormat): string {
  const copies = projects.flatMap((project) =>
    EXPORT_DATASET_NAMES.map((dataset) => copyStatement(EXPORT_DATASETS[dataset], project, format)),
  );
  return ["set timezone = 'UTC'", ...copies].map((statement) => `${statement};\n`).join("");
}

/** One session and one entry of the archive: the same bytes in the same order, at the least cost for the peer. */
export function buildByHand(script: string, path: string): string {
  return `psql --no-psqlrc --quiet "$DATABASE_URL" --file "${script}" | zip -6 -q - - > "${path}"`;
}

/** The peer's build, of as many files under the same names. */
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
