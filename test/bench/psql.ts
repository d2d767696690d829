/** psql as the peer of an export: it runs the same SQL and does nothing else. */
import type { ExportDataset } from "../../shared/exports/datasets.ts";
import { type ExportSelection, NO_FILTERS, toVisibility } from "../../shared/exports/selection.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { copyStatement as exportStatement } from "../../sql/exports/copy_rows.ts";
import { rowsQuery } from "../../sql/exports/query.ts";
import { quotedColumns } from "../../sql/exports/row_line.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";

/** After the times of all rows that a benchmark makes, and in the past. */
export const AS_OF = "2026-06-01T00:00:00.000Z";

/** What an export of a project takes that was asked for nothing special. */
function everythingOf(project: { id: string }): ExportSelection {
  return {
    trackerSchema: "public",
    projectId: project.id,
    asOf: AS_OF,
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
}

/** The COPY that an export of a project's dataset runs, on one line. */
export function copyStatement(dataset: ExportDataset, project: { id: string }, format: ExportFormat): string {
  const query = rowsQuery(dataset, everythingOf(project), format).replaceAll(/\s+/g, " ");
  return exportStatement(query, { format, quoted: format === "csv" ? quotedColumns(dataset) : [] });
}

/** psql with the same COPY, as a shell runs it. */
export function copyCommand(dataset: ExportDataset, project: { id: string }, format: ExportFormat): string {
  const copy = quoteShell(copyStatement(dataset, project, format));
  return `psql --no-psqlrc --quiet "$DATABASE_URL" --command "set timezone = 'UTC'" --command ${copy}`;
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Runs a script of a shell that knows the database as `$DATABASE_URL`; throws when it fails. Returns the processor time
 * of the shell and all that it ran.
 */
export async function runShell(db: TestDatabase, script: string): Promise<{ clientCpu: number }> {
  const child = Bun.spawn(["sh", "-c", script], {
    env: { ...process.env, DATABASE_URL: db.url },
    stdout: "ignore",
    stderr: "pipe",
  });
  const [stderr, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (exitCode !== 0 || stderr.includes("ERROR"))
    throw new Error(`Cannot run psql: ${stderr.slice(0, 2000)}`);
  return { clientCpu: Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1e6 };
}
