/** GET /export/projects/{project}/{dataset}: one dataset of a project, streamed as NDJSON, CSV or Parquet. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDatasetName,
  findExportDataset,
} from "../../shared/exports/datasets.ts";
import { rowJsonSchema } from "../../shared/exports/row_schema.ts";
import { mayExportDataset } from "../../shared/policy.ts";
import { LANES_MIN_ROWS, streamDatasetFile } from "../../sql/exports/dataset_file.ts";
import { countDatasetRows } from "../../sql/exports/rows.ts";
import { type DocumentedForm, type Files, operation } from "../http/operation.ts";
import {
  datasetQuery,
  endingQuery,
  FORMAT_ENDINGS,
  ndjsonQuery,
  parseDatasetParameters,
  queryWithEnding,
  splitFormatEnding,
} from "./export_parameters.ts";
import {
  FILE_HEADERS,
  ndjsonFiles,
  PROJECT_EXPORT,
  PROJECT_FAILURES,
  ProjectParams,
  SHARE_USED_UP,
  sendExport,
  WRONG_TIME,
} from "./send_export.ts";

const FORMS = {
  csv: {
    suffix: "Csv",
    summary: " as CSV",
    response: {
      description: "RFC 4180 in UTF-8 with a byte order mark and a header row; formulas are neutralized",
      files: { "text/csv": null },
    },
  },
  parquet: {
    suffix: "Parquet",
    summary: " as Parquet",
    response: {
      description: "Apache Parquet with typed columns; JSON columns are text of the logical type JSON",
      files: { "application/vnd.apache.parquet": { type: "string", format: "binary" } },
    },
  },
} as const;

const Rows: Files = {
  description: "The rows",
  files: { "application/x-ndjson": null, "text/csv": null, "application/vnd.apache.parquet": null },
};

/** The document has one operation for each dataset and format, because they differ in filters and rows. */
function listForms(name: ExportDatasetName): DocumentedForm[] {
  const dataset = EXPORT_DATASETS[name];
  const query = datasetQuery(dataset);
  const path = `/api/v1/export/projects/{project}/${name}`;
  const id = `export-${name}`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const summary = `Export the ${name.replaceAll("-", " ")} of a project`;
  const description = "The rows: one JSON object per line";
  return [
    {
      id,
      path,
      summary,
      uncheckedQuery: ndjsonQuery(query, FORMAT_ENDINGS),
      response: { 200: { description, files: ndjsonFiles(rowJsonSchema(dataset)) } },
    },
    ...FORMAT_ENDINGS.map((ending) => ({
      id: `${id}${FORMS[ending].suffix}`,
      path: `${path}.${ending}`,
      summary: `${summary}${FORMS[ending].summary}`,
      uncheckedQuery: endingQuery(query),
      response: { 200: FORMS[ending].response },
    })),
  ];
}

export const exportDataset = operation(
  {
    ...PROJECT_EXPORT,
    id: "exportDataset",
    path: "/api/v1/export/projects/{project}/{dataset}",
    summary: "Export a dataset of a project",
    description: "Streams rows ordered by time, then id.",
    params: { ...ProjectParams, dataset: Type.String() },
    uncheckedQuery: {},
    response: { 200: Rows },
    responseHeaders: FILE_HEADERS,
    fails: [...PROJECT_FAILURES, "EXPORT_TOO_LARGE", "EXPORT_PREPARE_TIMEOUT", WRONG_TIME, SHARE_USED_UP],
    documentedAs: EXPORT_DATASET_NAMES.flatMap(listForms),
  },
  async ({ params, request, caller }, deps) => {
    const { name, ending } = splitFormatEnding(params.dataset);
    const dataset = findExportDataset(name);
    if (!dataset) {
      const message = TEXTS.NOT_FOUND.dataset(EXPORT_DATASET_NAMES);
      throw new ApiError("NOT_FOUND", { message, details: { reason: "dataset" } });
    }
    const parse = () => parseDatasetParameters(queryWithEnding(request, ending), dataset);
    const exportRequest = { caller, request, project: params.project, policy: mayExportDataset, parse };
    return sendExport(deps, exportRequest, ({ snapshot, parameters, selection: common, lanes }) => {
      const { format, createdFrom, createdTo, filters } = parameters;
      const selection = { ...common, createdFrom, createdTo, filters };
      return {
        kind: "dataset",
        format,
        content: dataset.name,
        maxRows: deps.config.exportSyncMaxRows,
        count: (tx, limit) => countDatasetRows(tx, dataset, { selection, limit }),
        open: (rows) =>
          streamDatasetFile(snapshot, dataset, {
            selection,
            format,
            ...(rows < LANES_MIN_ROWS ? {} : { lanes }),
          }),
      };
    });
  },
);
