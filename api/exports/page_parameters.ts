/** Reads `limit` and `offset` of a list. */
import { type Problem, refuseInput } from "../validation_problems.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_OFFSET = 2_147_483_647;

export interface Page {
  limit: number;
  offset: number;
}

/** Throws VALIDATION_ERROR for anything else, doubled or out of bounds. */
export function parsePage(query: URLSearchParams): Page {
  const problems: Problem[] = [...new Set(query.keys())]
    .filter((path) => path !== "limit" && path !== "offset")
    .map((path) => ({ path, message: "is not a parameter here; known are limit, offset" }));
  const read = (path: string, bounds: { least: number; most: number; unset: number }): number => {
    const values = query.getAll(path);
    const [text = String(bounds.unset)] = values;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    if (values.length > 1) problems.push({ path, message: "must be given once" });
    else if (value < bounds.least || value > bounds.most) {
      problems.push({ path, message: `must be a whole number from ${bounds.least} to ${bounds.most}` });
    }
    return value;
  };
  const page = {
    limit: read("limit", { least: 1, most: MAX_LIMIT, unset: DEFAULT_LIMIT }),
    offset: read("offset", { least: 0, most: MAX_OFFSET, unset: 0 }),
  };
  if (problems.length > 0) throw refuseInput(problems);
  return page;
}
