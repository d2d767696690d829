/** Creates organizations that are quick to insert and slow to export. */
import { randomBytes } from "node:crypto";
import type { TestDatabase } from "../postgres/database.ts";
import type { Factory, Person, ProjectRow } from "../postgres/factory.ts";

export const HEAVY_PROJECTS = 4;
/** The number of issues per project. */
export const HEAVY_ISSUES = 500;
/** The size of a run's text. The text is repetitive, so the table stores it compressed. An export writes it in full. */
const TEXT_BYTES = 256 * 1024;
/** The size of a run's noise before base64. The text of a run may have at most 500 KB. */
const NOISE_BYTES = 256 * 1024;
/** The first run number of runs with noise, higher than the numbers of all other runs. */
const FIRST_NOISE = 1_000_000;

export interface HeavyOrg {
  person: Person;
  projects: ProjectRow[];
}

/** Creates an organization with `runs` runs per project, each 256 KiB in an export, and a user who may export it. */
export async function makeHeavyOrg(
  { db, make }: { db: TestDatabase; make: Factory },
  runs: number,
): Promise<HeavyOrg> {
  const person = await make.person({ role: "publisher" });
  const projects: ProjectRow[] = [];
  while (projects.length < HEAVY_PROJECTS) {
    const project = await make.project({ orgId: person.org.id, ownerId: person.user.id });
    projects.push(project);
    await insertRuns(db, project, runs);
    await insertIssues(db, project);
  }
  return { person, projects };
}

async function insertRuns({ sql }: TestDatabase, project: ProjectRow, runs: number): Promise<void> {
  await sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp", raw_markdown, created_at)
    select ${project.id}, n, 'review', now(), repeat(md5(n::text) || E'\\n', ${Math.floor(TEXT_BYTES / 33)}),
      timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${runs}::int) as n`;
}

async function insertIssues({ sql }: TestDatabase, project: ProjectRow): Promise<void> {
  await sql`
    insert into issues (
      project_id, fingerprint, title, status, priority, first_seen_run_id, last_seen_run_id, created_at
    )
    select ${project.id}, md5(n::text) || md5(n::text), 'Issue ' || n, 'open', 'high',
      md5('run' || n)::uuid, md5('run' || n)::uuid, timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${HEAVY_ISSUES}::int) as n`;
}

/**
 * Adds runs with `mebibytes` MiB of random data in base64. Their export exceeds socket buffers even when it is
 * compressed.
 */
export async function addNoise({ sql }: TestDatabase, project: ProjectRow, mebibytes: number): Promise<void> {
  for (let n = 0; n < 4 * mebibytes; n += 1) {
    const text = randomBytes(NOISE_BYTES).toString("base64");
    await sql`
      insert into runs (project_id, run_number, workflow_type, "timestamp", raw_markdown, created_at)
      values (${project.id}, ${FIRST_NOISE + n}, 'review', now(), ${text}, '2026-01-02T00:00:00.000Z')`;
  }
}
