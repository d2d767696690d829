/** GET /export/datasets: what can be exported, column by column. */
import { Elysia } from "elysia";
import { isNullInExports, toCamelCase } from "../../shared/exports/column.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import { rowJsonSchema } from "../../shared/exports/row_schema.ts";
import { access } from "../http/access.ts";
import { rejectQuery } from "../http/query.ts";
import { DATASET_LIST_DETAIL } from "./openapi.ts";

function present(dataset: ExportDataset) {
  return {
    name: dataset.name,
    timeColumn: toCamelCase(dataset.timeColumn),
    columns: dataset.columns.map((column) => ({
      name: column.name,
      type: column.type,
      nullable: isNullInExports(column),
      description: column.description,
    })),
    filters: dataset.filters.map((filter) => filter.name),
    jsonSchema: rowJsonSchema(dataset),
  };
}

export function datasetListRoutes() {
  return new Elysia().use(access).get(
    "/export/datasets",
    ({ request }) => {
      rejectQuery(request);
      return { data: { datasets: EXPORT_DATASET_NAMES.map((name) => present(EXPORT_DATASETS[name])) } };
    },
    { publicAccess: true, detail: DATASET_LIST_DETAIL },
  );
}
