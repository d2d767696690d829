/** GET /export/datasets: lists the exportable datasets with their columns. */
import { Type } from "@sinclair/typebox";
import { EXPORT_COLUMN_TYPES, isNullInExports, toCamelCase } from "../../shared/exports/column.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import { rowJsonSchema } from "../../shared/exports/row_schema.ts";
import { listOf, oneOf, Text } from "../../shared/schemas.ts";
import { operation, reply } from "../http/operation.ts";

const DatasetColumn = Type.Object(
  { name: Text, type: oneOf(EXPORT_COLUMN_TYPES), nullable: Type.Boolean(), description: Text },
  { title: "DatasetColumn" },
);

const Dataset = Type.Object(
  {
    name: oneOf(EXPORT_DATASET_NAMES),
    timeColumn: Type.String({ description: "The column that as_of and the order of rows use" }),
    columns: listOf(DatasetColumn),
    filters: listOf(Text),
    jsonSchema: Type.Unsafe<object>({
      type: "object",
      additionalProperties: true,
      description: "JSON Schema 2020-12 of a row",
    }),
  },
  {
    title: "Dataset",
    examples: [
      {
        name: "issue-notes",
        timeColumn: "createdAt",
        columns: [{ name: "id", type: "uuid", nullable: false, description: "Key of the note" }],
        filters: ["issue_id", "note_type"],
        jsonSchema: rowJsonSchema(EXPORT_DATASETS["issue-notes"]),
      },
    ],
  },
);

export const listExportDatasets = operation(
  {
    id: "listExportDatasets",
    method: "GET",
    path: "/api/v1/export/datasets",
    access: "public",
    tag: "Export",
    summary: "List datasets and their columns",
    description: "The same for every caller. A row has exactly these columns, in this order.",
    response: {
      200: Type.Object(
        { data: Type.Object({ datasets: listOf(Dataset) }) },
        { description: "The eight datasets with columns, filters and JSON Schema" },
      ),
    },
  },
  async () =>
    reply(200, { data: { datasets: EXPORT_DATASET_NAMES.map((name) => present(EXPORT_DATASETS[name])) } }),
);

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
