/** Finds the datasets of projects that have rows, so that an export can skip the others. */
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDatasetName,
} from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { Sql } from "../connection/pool.ts";
import { tableOf } from "./row_conditions.ts";

/**
 * Returns, by project, the datasets whose tables have rows of the project, visible or not. Costs eight index probes per
 * project, 0.05 ms.
 */
export async function findPopulatedDatasets(
  sql: Sql,
  {
    projectIds,
    ...source
  }: Pick<ExportSelection, "trackerSchema" | "shards"> & { projectIds: readonly string[] },
): Promise<Map<string, ReadonlySet<ExportDatasetName>>> {
  const probes = EXPORT_DATASET_NAMES.map((name) => {
    const table = tableOf(EXPORT_DATASETS[name], source);
    return `case when exists (select from ${table} as r where r.project_id = p.id) then '${name}' end`;
  });
  const rows = await sql.unsafe<{ id: string; datasets: ExportDatasetName[] }[]>(
    `select p.id, array_remove(array[${probes.join(",\n")}], null) as datasets
    from unnest($1::uuid[]) as p (id)`,
    [[...projectIds]],
  );
  return new Map(rows.map(({ id, datasets }) => [id, new Set(datasets)]));
}
