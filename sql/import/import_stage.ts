/** The temporary table for imported lines, one JSON document each. */
import type { Sql } from "../connection/pool.ts";
import { allowBackfill } from "../tracker/tracker_tables.ts";

/** Creates the table for the current transaction. Call inside a transaction. */
export async function createImportStage(tx: Sql): Promise<void> {
  // Imported rows keep their times.
  await allowBackfill(tx);
  await tx`create temporary table import_stage (doc json not null) on commit drop`;
}

/** Empties the table for the next dataset. */
export async function clearImportStage(tx: Sql): Promise<void> {
  await tx`truncate import_stage`;
}

/** Adds lines of NDJSON to the table. */
export async function insertImportLines(tx: Sql, lines: readonly string[]): Promise<void> {
  await tx`
    insert into import_stage (doc)
    select line::json
    from string_to_table(${lines.join("\n")}, ${"\n"}) as line`;
}
