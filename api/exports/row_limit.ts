/** The row limit of files that are sent while they are generated: EXPORT_SYNC_MAX_ROWS and EXPORT_BUNDLE_MAX_ROWS. */
import { ApiError } from "../../shared/errors.ts";
import { ASYNC_ENDPOINT } from "./open_export.ts";

/** Counts the rows of a file, but not much further than the limit. Throws EXPORT_TOO_LARGE beyond it. */
export async function countWithinLimit(
  limit: number,
  count: (countUpTo: number) => Promise<number>,
): Promise<number> {
  const rows = await count(limit + 1);
  if (rows <= limit) return rows;
  throw new ApiError("EXPORT_TOO_LARGE", { details: { rows, limit, asyncEndpoint: ASYNC_ENDPOINT } });
}
