/**
 * What a caller may not see does not exist for them. Queries look only among what the caller may see, so a row of a stranger
 * and a row that does not exist give the same 404: sql/accounts/visible_project.ts for projects, sql/definitions/visibility.ts
 * for definitions, `findVisibleExportJob` in sql/exports/jobs.ts.
 */
import { ApiError } from "../../shared/errors.ts";

/** Returns what a query found. Throws the error if that is nothing. */
export function requireVisible<Found>(found: Found | null, error: () => ApiError): Found {
  if (found !== null) return found;
  throw error();
}

/** Returns NOT_FOUND for a kind of thing, such as `session`; `message` replaces the default message. */
export function notFound(reason: string, message?: string): ApiError {
  return new ApiError("NOT_FOUND", { ...(message === undefined ? {} : { message }), details: { reason } });
}
