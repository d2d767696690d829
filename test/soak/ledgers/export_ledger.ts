/** Records row counts of exports. All exports of a dataset at one cutoff must have the row count of its table. */
import { EXPORT_DATASETS, type ExportDatasetName } from "../../../shared/exports/datasets.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

/** The number of exports to compare with the tables. */
const CHECKED = 200;

export interface Cut {
  projectId: string;
  dataset: ExportDatasetName;
  asOf: string;
}

export class ExportLedger {
  readonly #rows = new Map<string, { cut: Cut; rows: number }>();

  /**
   * Records the row count of an export. Returns a description of the difference if an earlier export at the same cutoff
   * had another count.
   */
  add(cut: Cut, rows: number): string | null {
    const key = `${cut.dataset} of project ${cut.projectId} as of ${cut.asOf}`;
    const before = this.#rows.get(key)?.rows ?? rows;
    this.#rows.set(key, { cut, rows });
    return before === rows ? null : `${key} has ${rows} rows, and had ${before}`;
  }

  /**
   * Returns the differences between the ledger and the tables. Clients of a soak hide no rows, so every row up to the cutoff must
   * be in the export.
   */
  async listTroubles(sql: Pool): Promise<string[]> {
    const all = [...this.#rows];
    const step = Math.max(1, all.length / CHECKED);
    const troubles: string[] = [];
    for (let index = 0; index < all.length; index += step) {
      const [key, known] = all[Math.floor(index)] ?? [];
      if (!key || !known) break;
      const { table, timeColumn } = tableOf(known.cut.dataset);
      const [row] = await sql<[{ rows: number }]>`
        select count(*)::int as rows
        from ${sql(table)}
        where project_id = ${known.cut.projectId} and ${sql(timeColumn)} <= ${known.cut.asOf}`;
      if (row.rows !== known.rows)
        troubles.push(`${key} had ${known.rows} rows, and the table has ${row.rows}`);
    }
    return troubles;
  }
}

function tableOf(dataset: ExportDatasetName): { table: string; timeColumn: string } {
  const timeColumn = dataset === "status-history" ? "changed_at" : "created_at";
  return { table: EXPORT_DATASETS[dataset].table, timeColumn };
}
