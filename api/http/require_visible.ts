/**
 * Returns the same 404 for a resource that the caller cannot see as for a missing one. The queries search only what the
 * caller can see:
 * - projects: sql/accounts/visible_project.ts
 * - definitions: sql/definitions/visibility.ts
 * - export jobs: `findVisibleExportJob` in sql/exports/jobs.ts
 */
import { ApiError } from "../../shared/errors.ts";

/** Returns the row that a query found. Throws the error if it found none. */
export function requireVisible<Found>(found: Found | null, error: () => ApiError): Found {
  if (found !== null) return found;
  throw error();
}

/** Returns NOT_FOUND for a kind of resource, such as `session`. `message` replaces the default message. */
export function notFound(reason: string, message?: string): ApiError {
  return new ApiError("NOT_FOUND", { message, details: { reason } });
}
