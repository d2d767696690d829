/** Query parameters of exports. Filters and flags follow from the list of datasets. */

import type { ExportDataset, ExportFilter, VisibilityFlag } from "../../shared/exports/datasets.ts";
import {
  type ExportSelection,
  type ExportVisibility,
  FLAG_DEFAULTS,
  toVisibility,
} from "../../shared/exports/selection.ts";
import { parseInstant } from "../../shared/instant.ts";
import { ID, INSTANT, listSchema, TEXT, wordSchema } from "../../shared/json_schema.ts";
import { isUuid } from "../../shared/uuid.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  TEXT_EXPORT_FORMATS,
  type TextExportFormat,
} from "../../shared/vocabulary.ts";
import {
  type AddProblem,
  flag,
  once,
  parseQuery,
  type Query,
  type QueryParameter,
  type QueryValues,
  queryOf,
  word,
} from "../http/query.ts";
import { invalidInput } from "../http/validation_problems.ts";

export const EXAMPLE_AS_OF = "2026-11-20T10:00:00.000Z";

/** Bounds the SQL text that filters become. */
const MAX_FILTER_VALUES = 100;
const MAX_FILTER_LENGTH = 500;

export interface ExportParameters {
  format: ExportFormat;
  /** Truncated to milliseconds; null if the service chooses the cutoff. */
  asOf: string | null;
  /** Truncated to milliseconds; null for a full export. */
  since: string | null;
  createdFrom: string | null;
  createdTo: string | null;
  visibility: ExportVisibility;
  filters: ExportSelection["filters"];
}

const FLAG_DESCRIPTIONS: Readonly<Record<VisibilityFlag, string>> = {
  include_deleted: "Include deleted issues and the rows that belong to them",
  include_archived: "Include archived runs and the rows that belong to them",
  include_superseded: "Include superseded analysis rows",
  include_resolved:
    "Include issues that are completed, wontfix or false-positive, and the rows that belong to them",
};

const TEXT_FORMATS =
  "`ndjson` keeps every value. `csv` is RFC 4180 in UTF-8 with a byte order mark; formulas are neutralized";

const COMMON = {
  format: word(
    EXPORT_FORMATS,
    `${TEXT_FORMATS}. \`parquet\` has typed columns; JSON columns are text of the logical type JSON`,
    `must be ${EXPORT_FORMATS.join(", ").replace(/, (\w+)$/, " or $1")}`,
  ),
  as_of: {
    description:
      "The cutoff, an ISO 8601 time with an offset. Rows created later are excluded, so later exports with the same " +
      "cutoff have no additional rows. Default: the latest cutoff that no open transaction can still write behind; it " +
      "is returned in X-Export-As-Of",
    example: EXAMPLE_AS_OF,
    schema: INSTANT,
    read: once(readInstant),
  },
};

function readInstant(text: string | null, addProblem: AddProblem): string | null {
  const instant = text === null ? null : parseInstant(text);
  if (text !== null && instant === null) {
    addProblem(`must be ISO 8601 with an offset, such as ${EXAMPLE_AS_OF}`);
  }
  return instant;
}

const SINCE = {
  description:
    "Only rows that changed after this time, up to the cutoff: X-Export-Next-Since of an earlier export. Rows that left " +
    "the export are in deleted.ndjson of a bundle, and at /export/projects/{project}/deleted. At most 90 days ago",
  schema: INSTANT,
  read: once(readInstant),
};

const SLICE = {
  created_from: {
    description: "Only rows whose time column is at or after this time",
    schema: INSTANT,
    read: once(readInstant),
  },
  created_to: {
    description: "Only rows whose time column is before this time",
    schema: INSTANT,
    read: once(readInstant),
  },
};

function flagParameter(name: VisibilityFlag): QueryParameter<boolean> {
  return flag(FLAG_DEFAULTS[name], FLAG_DESCRIPTIONS[name], "must be true or false");
}

function filterParameter(filter: ExportFilter): QueryParameter<string[]> {
  return {
    description: "Only rows with one of these values",
    explode: true,
    schema: listSchema(filter.values ? wordSchema(filter.values) : filter.type === "uuid" ? ID : TEXT),
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

const FLAGS: Readonly<Record<VisibilityFlag, QueryParameter<boolean>>> = {
  include_deleted: flagParameter("include_deleted"),
  include_archived: flagParameter("include_archived"),
  include_superseded: flagParameter("include_superseded"),
  include_resolved: flagParameter("include_resolved"),
};

function flagParameters(names: readonly VisibilityFlag[]) {
  return Object.fromEntries(names.map((name) => [name, FLAGS[name]]));
}

function filterParameters(filters: readonly ExportFilter[]) {
  return Object.fromEntries(filters.map((filter) => [filter.name, filterParameter(filter)]));
}

/** Parameters of a bundle. */
export const BUNDLE_QUERY = { ...COMMON, since: SINCE, ...FLAGS };

export const DELETED_QUERY = {
  ...COMMON,
  format: word(TEXT_EXPORT_FORMATS, TEXT_FORMATS, `must be ${TEXT_EXPORT_FORMATS.join(" or ")}`),
  since: {
    ...SINCE,
    description: "X-Export-Next-Since of an earlier export. At most 90 days ago",
    required: true as const,
    example: "2026-11-19T10:00:00.000Z",
    read: once((text, addProblem): string => {
      if (text === null) addProblem("is required: X-Export-Next-Since of an earlier export");
      return readInstant(text, addProblem) ?? "";
    }),
  },
  ...FLAGS,
};

export function datasetQuery({ flags, filters }: Pick<ExportDataset, "flags" | "filters">) {
  return { ...COMMON, since: SINCE, ...SLICE, ...flagParameters(flags), ...filterParameters(filters) };
}

/** Parses the parameters of a dataset. Throws VALIDATION_ERROR with every problem. */
export function parseDatasetParameters(
  query: URLSearchParams,
  taken: Pick<ExportDataset, "flags" | "filters">,
): ExportParameters {
  const flags = flagParameters(taken.flags);
  const filters = filterParameters(taken.filters);
  const common = { ...COMMON, since: SINCE, ...SLICE };
  const declared = { ...common, ...flags, ...filters };
  const values: QueryValues<typeof common> & Readonly<Record<string, unknown>> = parseQuery(declared, query);
  const { format, as_of: asOf, since, created_from: createdFrom, created_to: createdTo } = values;
  if (createdFrom !== null && createdTo !== null && createdFrom >= createdTo) {
    throw invalidInput([{ path: "created_to", message: "must be later than created_from" }]);
  }
  // A group's parameters all read the same type.
  const valuesOf = <Value>(group: Readonly<Record<string, QueryParameter<Value>>>) =>
    Object.entries(values).filter(([name]) => name in group) as [string, Value][];
  return {
    ...{ format, asOf, since, createdFrom, createdTo },
    visibility: toVisibility(Object.fromEntries(valuesOf(flags))),
    filters: Object.fromEntries(valuesOf(filters).filter(([, wanted]) => wanted.length > 0)),
  };
}

/** Parameters of exports without filters and increments. */
export type BundleParameters = Pick<ExportParameters, "format" | "asOf" | "since" | "visibility">;

/** Parses the parameters of a bundle. Throws VALIDATION_ERROR with every problem. */
export function parseBundleParameters(query: URLSearchParams): BundleParameters {
  const { format, as_of: asOf, since, ...flags } = parseQuery(BUNDLE_QUERY, query);
  return { format, asOf, since, visibility: toVisibility(flags) };
}

/** Parameters of the rows that left an export. */
export interface DeletedParameters extends BundleParameters {
  format: TextExportFormat;
  since: string;
}

/** Parses the parameters of the rows that left an export. Throws VALIDATION_ERROR with every problem. */
export function parseDeletedParameters(query: URLSearchParams): DeletedParameters {
  const { format, as_of: asOf, since, ...flags } = parseQuery(DELETED_QUERY, query);
  return { format, asOf, since, visibility: toVisibility(flags) };
}

function findFilterProblem(filter: ExportFilter, value: string): string | null {
  if (filter.values && !filter.values.includes(value)) return `must be one of ${filter.values.join(", ")}`;
  if (filter.type === "uuid" && !isUuid(value)) return "must be a UUID";
  if (value.length > MAX_FILTER_LENGTH) return `must have at most ${MAX_FILTER_LENGTH} characters`;
  if (value.includes("\0")) return "must not hold a NUL character";
  return value.isWellFormed() ? null : "must be well-formed Unicode";
}

/** The formats that have an ending. Without one, a path is NDJSON. */
export const FORMAT_ENDINGS = ["csv", "parquet"] as const;
export type FormatEnding = (typeof FORMAT_ENDINGS)[number];

/** Splits the ending from the last part of a path; it is null if there is none. */
export function splitFormatEnding(name: string): { name: string; ending: FormatEnding | null } {
  const ending = FORMAT_ENDINGS.find((format) => name.endsWith(`.${format}`)) ?? null;
  return { name: ending === null ? name : name.slice(0, -ending.length - 1), ending };
}

/** The query of a request, with the format of its ending. Throws VALIDATION_ERROR if the query has a format, too. */
export function queryWithEnding(request: Request, ending: FormatEnding | null): URLSearchParams {
  const query = queryOf(request);
  if (ending === null) return query;
  if (query.has("format")) {
    const message = `is not a parameter of this endpoint: the path ends in .${ending}`;
    throw invalidInput([{ path: "format", message }]);
  }
  query.set("format", ending);
  return query;
}

/** The parameters of the path without an ending: clients get NDJSON from it, so no other format is described there. */
export function ndjsonQuery(query: Query, endings: readonly FormatEnding[]): Query {
  const others = endings.map(
    (ending) => `\`format=${ending}\` responds as the path that ends in \`.${ending}\``,
  );
  const description = `\`ndjson\` keeps every value. ${others.join(", ")}`;
  return { ...query, format: word(["ndjson"], description) };
}

/** The parameters of a path with an ending. */
export function endingQuery({ format: _, ...query }: Query): Query {
  return query;
}
