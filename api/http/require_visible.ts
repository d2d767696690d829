/**
 * The 404 for a resource that the caller may not see, the same as for one that does not exist. Queries decide, because they
 * search only what the caller may see:
 * - projects: sql/accounts/visible_project.ts
 * - definitions: sql/definitions/visibility.ts
 * - export jobs: `findVisibleExportJob` in sql/exports/jobs.ts
 */
import { ApiError } from "../../shared/errors.ts";

/** Returns what a query found. Throws the error if that is nothing. */
export function requireVisible<Found>(found: Found | null, error: () => ApiError): Found {
  if (found !== null) return found;
  throw error();
}

/** Returns NOT_FOUND for a kind of thing, such as `session`; `message` replaces the default message. */
export function notFound(reason: string, message?: string): ApiError {
  return new ApiError("NOT_FOUND", { message, details: { reason } });
}
