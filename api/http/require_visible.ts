/**
 * What a caller may not see does not exist for them. Queries look only among what the caller may see, and what they do not
 * find is the same 404, whether it is a stranger's or nobody's.
 */
import type { ApiError } from "../../shared/errors.ts";

/** Returns what a query found. Throws `notFound()` if that is nothing. */
export function requireVisible<Found>(found: Found | null, notFound: () => ApiError): Found {
  if (found !== null) return found;
  throw notFound();
}
