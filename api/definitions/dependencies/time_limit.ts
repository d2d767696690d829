/** Ends work that is done in steps, once it has taken too long. */
import { RETRY_AFTER } from "../../../shared/error_rows.ts";
import { ApiError } from "../../../shared/errors.ts";

/** Called between two steps. Throws if there must be no further one. */
export type OnStep = () => void;

/** Throws SERVICE_UNAVAILABLE with the message if a step ends later than `maxMs` from now. */
export function limitTime(maxMs: number, message: string): OnStep {
  const deadline = performance.now() + maxMs;
  return () => {
    if (performance.now() <= deadline) return;
    throw new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter: RETRY_AFTER.queue });
  };
}
