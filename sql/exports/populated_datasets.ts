/** Finds out which datasets of projects have rows, so that an export need not copy the others. */
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
} from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { Sql } from "../connection/pool.ts";
import { hasWrongTime } from "../tracker/tracker_times.ts";
import { tableOf } from "./row_conditions.ts";

export interface PopulatedDatasets {
  /** The datasets whose tables have rows of the project, exported or not. */
  datasets: ReadonlySet<ExportDatasetName>;
  /** Whether any of these rows has a time that cannot be written. */
  hasWrongTimes: boolean;
}

/**
 * Looks into the tables, by project. Eight probes of an index per project: 0.05 ms. Rows are searched for wrong times only
 * where no validated check rules them out.
 */
export async function findPopulatedDatasets(
  sql: Sql,
  {
    projectIds,
    ...source
  }: Pick<ExportSelection, "trackerSchema" | "shards"> & { projectIds: readonly string[] },
): Promise<Map<string, PopulatedDatasets>> {
  const rowsOf = (dataset: ExportDataset): string =>
    `select from ${tableOf(dataset, source)} as r where r.project_id = p.id`;
  const probes = EXPORT_DATASET_NAMES.map(
    (name) => `case when exists (${rowsOf(EXPORT_DATASETS[name])}) then '${name}' end`,
  );
  const wrongTimes = Object.values(EXPORT_DATASETS).map(
    (dataset) => `exists (${rowsOf(dataset)} and (${hasWrongTime(dataset)}))`,
  );
  const rows = await sql.unsafe<{ id: string; datasets: ExportDatasetName[]; hasWrongTimes: boolean }[]>(
    `select p.id, array_remove(array[${probes.join(",\n")}], null) as datasets, ${wrongTimes.join("\n or ")} as has_wrong_times
    from unnest($1::uuid[]) as p (id)`,
    [[...projectIds]],
  );
  return new Map(
    rows.map(({ id, datasets, hasWrongTimes }) => [id, { datasets: new Set(datasets), hasWrongTimes }]),
  );
}
