/** Formats at the end of a path: `…/issues.csv` is `…/issues?format=csv`. */
import { queryOf } from "../http/query.ts";
import { invalidInput } from "../http/validation_problems.ts";

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
