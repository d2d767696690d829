/** Creates a project with a row for each visibility case, and a user who may export it. */
import type { ExportDatasetName } from "../../../shared/exports/datasets.ts";
import type { TestApp } from "../http/app.ts";
import type { Person, ProjectRow } from "../postgres/factory.ts";

/** A cutoff after all rows of `makeExportProject`. */
export const AFTER_ALL = "2026-02-01T00:00:00.000Z";
const MADE_AT = "2026-01-10T10:00:00.000Z";

export interface ExportProject {
  person: Person;
  project: ProjectRow;
  /** Row ids by visibility case, such as `archived run`. */
  ids: Readonly<Record<string, string>>;
}

/**
 * Creates the project. Its issues are open, completed or deleted; its runs are live or archived. Each issue has a note,
 * a status change, and one occurrence in each run. Each run has a snapshot, and live and superseded analysis rows.
 */
export async function makeExportProject(app: Pick<TestApp, "make">): Promise<ExportProject> {
  const person = await app.make.person({ role: "publisher" });
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const ids = await app.make.together(async (make) => {
    const row = { projectId: project.id, createdAt: MADE_AT };
    const ids: Record<string, string> = {};
    const issues = { open: {}, completed: { status: "completed" }, deleted: { deletedAt: MADE_AT } };
    const runs = { live: {}, archived: { archivedAt: MADE_AT } };
    for (const [name, columns] of Object.entries(runs)) {
      const run = await make.run({ ...row, ...columns });
      ids[`${name} run`] = run.id;
      const child = { ...row, runId: run.id };
      ids[`${name} snapshot`] = (await make.snapshot(child)).id;
      ids[`${name} summary`] = (await make.summary(child)).id;
      ids[`${name} superseded summary`] = (await make.summary({ ...child, supersededAt: MADE_AT })).id;
      ids[`${name} record`] = (await make.record(child)).id;
      ids[`${name} superseded record`] = (await make.record({ ...child, supersededAt: MADE_AT })).id;
    }
    for (const [name, columns] of Object.entries(issues)) {
      const issue = await make.issue({ ...row, ...columns });
      ids[`${name} issue`] = issue.id;
      ids[`${name} note`] = (await make.note({ ...row, issueId: issue.id })).id;
      const change = { projectId: project.id, issueId: issue.id, changedAt: MADE_AT };
      ids[`${name} change`] = (await make.statusChange(change)).id;
      for (const run of Object.keys(runs)) {
        const runId = ids[`${run} run`] ?? "";
        ids[`${name} ${run} occurrence`] = (await make.occurrence({ ...row, issueId: issue.id, runId })).id;
      }
    }
    return ids;
  });
  return { person, project, ids };
}

/** Requests a dataset, a bundle or an estimate with this query string. */
export function exportDataset(
  app: Pick<TestApp, "request">,
  { person, project }: Pick<ExportProject, "person" | "project">,
  path: ExportDatasetName | "bundle" | "estimate",
  query = "",
): Promise<Response> {
  return app.request(`/api/v1/export/projects/${project.id}/${path}${query}`, { key: person.key });
}

/** Returns the rows of an NDJSON response. Throws if the last line has no line feed. */
export async function ndjsonRows(response: Response): Promise<Record<string, unknown>[]> {
  const lines = (await response.text()).split("\n");
  if (lines.pop() !== "") throw new Error("Cannot read NDJSON: the last line has no end");
  return lines.map((line) => JSON.parse(line));
}
