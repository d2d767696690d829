/** GET /export/projects/{project}/{dataset}: a dataset of a project, or its deleted rows, as NDJSON, CSV or Parquet. */
import { Type } from "@sinclair/typebox";
import { isLongerThan } from "../../shared/characters.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
  type ExportFilter,
  findExportDataset,
  toVisibility,
} from "../../shared/exports/datasets.ts";
import { rowJsonSchema } from "../../shared/exports/row_schema.ts";
import { mayExportDataset } from "../../shared/policy.ts";
import { listOf, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { EXPORT_FORMATS } from "../../shared/vocabulary.ts";
import { LANES_MIN_ROWS, streamDatasetFile } from "../../sql/exports/dataset_file.ts";
import { countDatasetRows } from "../../sql/exports/select_rows.ts";
import { type DocumentedForm, operation } from "../http/operation.ts";
import {
  type AddProblem,
  instant,
  parseQuery,
  type QueryParameter,
  type QueryValues,
} from "../http/query.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { DELETED_FORMS, sendDeleted } from "./deleted_rows.ts";
import {
  COMMON_QUERY,
  FILE_HEADERS,
  FLAGS,
  FORMAT_ENDINGS,
  type FormatEnding,
  listForms,
  mediaTypeOf,
  PROJECT_EXPORT,
  PROJECT_FAILURES,
  ProjectParams,
  queryWithEnding,
  SHARE_USED_UP,
  WRONG_TIME,
} from "./export_request.ts";
import { sendExport } from "./send_export.ts";

const SLICE = {
  created_from: instant("Only rows whose time column is at or after this time"),
  created_to: instant("Only rows whose time column is before this time"),
};

export const exportDataset = operation(
  {
    ...PROJECT_EXPORT,
    id: "exportDataset",
    path: "/api/v1/export/projects/{project}/{dataset}",
    summary: "Export a dataset of a project",
    description: "Ordered by time, then id.",
    params: { ...ProjectParams, dataset: Type.String() },
    uncheckedQuery: {},
    response: {
      200: {
        description: "The rows",
        files: Object.fromEntries(EXPORT_FORMATS.map((format) => [mediaTypeOf(format), null])),
      },
    },
    responseHeaders: FILE_HEADERS,
    download: true,
    fails: [...PROJECT_FAILURES, "EXPORT_TOO_LARGE", "EXPORT_PREPARE_TIMEOUT", WRONG_TIME, SHARE_USED_UP],
    documentedAs: [...DELETED_FORMS, ...EXPORT_DATASET_NAMES.flatMap(listDatasetForms)],
  },
  async ({ params, request, caller }, deps) => {
    const { project } = params;
    const { name, ending } = splitFormatEnding(params.dataset);
    if (name === "deleted" && ending !== "parquet") {
      return sendDeleted(deps, { project, request, caller, ending });
    }
    const dataset = findExportDataset(name);
    if (!dataset) {
      const message = TEXTS.NOT_FOUND.dataset(EXPORT_DATASET_NAMES);
      throw new ApiError("NOT_FOUND", { message, details: { reason: "dataset" } });
    }
    const parse = () => parseDatasetParameters(queryWithEnding(request, ending), dataset);
    const exportRequest = { caller, request, project, policy: mayExportDataset, parse };
    return sendExport(deps, exportRequest, ({ snapshot, parameters, selection: common, lanes }) => {
      const { format, createdFrom, createdTo, filters } = parameters;
      const selection = { ...common, createdFrom, createdTo, filters };
      return {
        kind: "dataset",
        content: dataset.name,
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

/** Returns the OpenAPI operations of a dataset. Each dataset has its own, because filters and rows differ. */
function listDatasetForms(name: ExportDatasetName): DocumentedForm[] {
  const dataset = EXPORT_DATASETS[name];
  return listForms({
    id: `export-${name}`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    path: `/api/v1/export/projects/{project}/${name}`,
    summary: `Export the ${name.replaceAll("-", " ")} of a project`,
    query: datasetQuery(dataset),
    rowSchema: rowJsonSchema(dataset),
    endings: FORMAT_ENDINGS,
  });
}

/** Splits a format ending such as `.csv` from the last path segment. The ending is null if the segment has no such ending. */
function splitFormatEnding(name: string): { name: string; ending: FormatEnding | null } {
  const ending = FORMAT_ENDINGS.find((format) => name.endsWith(`.${format}`)) ?? null;
  return { name: ending === null ? name : name.slice(0, -ending.length - 1), ending };
}

/** Returns the query parameters of a dataset. */
function datasetQuery({ flags, filters }: ExportDataset) {
  return {
    ...COMMON_QUERY,
    ...SLICE,
    ...Object.fromEntries(flags.map((name) => [name, FLAGS[name]])),
    ...Object.fromEntries(filters.map((filter) => [filter.name, filterParameter(filter)])),
  };
}

/** Parses the parameters of a dataset. Throws VALIDATION_ERROR with every problem. */
function parseDatasetParameters(query: URLSearchParams, dataset: ExportDataset) {
  type Common = QueryValues<typeof COMMON_QUERY & typeof SLICE>;
  const values: Common & Readonly<Record<string, unknown>> = parseQuery(datasetQuery(dataset), query);
  const { format, as_of: asOf, since, created_from: createdFrom, created_to: createdTo } = values;
  if (createdFrom !== null && createdTo !== null && createdFrom >= createdTo) {
    throw invalidInput([{ path: "created_to", message: "must be later than created_from" }]);
  }
  const flags = dataset.flags.map((name) => [name, values[name] === true] as const);
  // Filter parameters are parsed to lists of values.
  const filters = dataset.filters.map(({ name }) => [name, values[name] as string[]] as const);
  return {
    ...{ format, asOf, since, createdFrom, createdTo },
    visibility: toVisibility(Object.fromEntries(flags)),
    filters: Object.fromEntries(filters.filter(([, wanted]) => wanted.length > 0)),
  };
}

/** These limits bound the SQL text of the filters. */
const MAX_FILTER_VALUES = 100;
const MAX_FILTER_LENGTH = 500;

function filterParameter(filter: ExportFilter): QueryParameter<string[]> {
  return {
    description: "Rows with one of these values",
    explode: true,
    schema: listOf(filter.values ? oneOf(filter.values) : filter.type === "uuid" ? Uuid() : Text),
    read(texts: readonly string[], addProblem: AddProblem): string[] {
      const values = [...new Set(texts)];
      const message =
        values.length > MAX_FILTER_VALUES
          ? `must have at most ${MAX_FILTER_VALUES} values`
          : values.map((value) => findFilterProblem(filter, value)).find((problem) => problem !== null);
      if (message) addProblem(message);
      return values;
    },
  };
}

function findFilterProblem(filter: ExportFilter, value: string): string | null {
  if (filter.values && !filter.values.includes(value)) return `must be one of ${filter.values.join(", ")}`;
  if (filter.type === "uuid" && !isUuid(value)) return "must be a UUID";
  if (isLongerThan(value, MAX_FILTER_LENGTH)) return `must have at most ${MAX_FILTER_LENGTH} characters`;
  if (value.includes("\0")) return "must not hold a NUL character";
  return value.isWellFormed() ? null : "must be well-formed Unicode";
}
