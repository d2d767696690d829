/** Tests a tracker that writes its own tables while they are exported through views. */
import { expect, test } from "bun:test";
import type { Pool } from "../../../../sql/connection/pool.ts";
import {
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../../../helpers/exports/export_project.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../../../helpers/exports/foreign_tracker.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openLoginRole } from "../../../helpers/postgres/login_role.ts";

const WRITERS = 4;
const ROUNDS = 5;

/** Inserts notes until `signal` aborts, in transactions of random length. Some transactions are rolled back. */
async function writeNotes(
  tracker: Pool,
  { project, ids }: ExportProject,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const statements = 1 + Math.floor(Math.random() * 20);
    const isKept = Math.random() < 0.8;
    const transaction = tracker.begin(async (tx) => {
      for (let count = 0; count < statements; count += 1) {
        await tx`
          insert into acme.t_issue_notes (x_project_id, x_id, x_issue_id, x_content, x_note_type, x_created_at)
          values (
            ${project.id}, gen_random_uuid()::text, ${ids["open issue"] ?? ""}, 'a note', 'context',
            (now() at time zone 'UTC')::timestamp(3)
          )`;
      }
      if (!isKept) throw new Error("rolled back");
    });
    await transaction.catch((error: unknown) => {
      if (isKept) throw error;
    });
  }
}

interface Exported {
  asOf: string;
  format: string;
  text: string;
}

async function exportNotes(
  app: TestApp,
  made: ExportProject,
  { format, asOf }: { format: string; asOf: string | null },
): Promise<Exported> {
  const query = `?format=${format}${asOf ? `&as_of=${asOf}` : ""}`;
  const response = await exportDataset(app, made, "issue-notes", query);
  const text = await response.text();
  expect(response.status).toBe(200);
  return { asOf: response.headers.get("x-export-as-of") ?? "", format, text };
}

test("exports the same rows through views at a given as_of, during writes and after all writers commit", async () => {
  await using app = await openTestApp({ config: { trackerSchema: FOREIGN_SCHEMA } });
  const made = await makeExportProject(app);
  await moveToForeignTracker(app.db.owner);
  await using tracker = await openLoginRole(app.db, { max: WRITERS });
  await app.db.owner.unsafe(`
    grant usage on schema acme to ${tracker.name};
    grant insert on acme.t_issue_notes to ${tracker.name}`);
  const stop = new AbortController();
  const writers = Array.from({ length: WRITERS }, () => writeNotes(tracker.sql, made, stop.signal));
  const exports: Exported[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const format of ["ndjson", "csv"]) {
        exports.push(await exportNotes(app, made, { format, asOf: null }));
        const [{ now }] = await app.db.sql<
          [{ now: string }]
        >`select clock_timestamp()::timestamptz(3) as now`;
        exports.push(await exportNotes(app, made, { format, asOf: now }));
      }
    }
  } finally {
    stop.abort();
    await Promise.all(writers);
  }
  for (const expected of exports) expect(await exportNotes(app, made, expected)).toEqual(expected);
  expect(new Set(exports.map(({ text }) => text)).size).toBeGreaterThan(ROUNDS);
});
