/** The errors that point to an export job instead. */
import { ApiError } from "../../shared/errors.ts";

const ASYNC_ENDPOINT = "/api/v1/export/jobs";

/** EXPORT_TOO_LARGE: `rows` is how many were counted before counting stopped. */
export function tooLarge(rows: number, limit: number): ApiError {
  return new ApiError("EXPORT_TOO_LARGE", { details: { rows, limit, asyncEndpoint: ASYNC_ENDPOINT } });
}

/** EXPORT_PREPARE_TIMEOUT: counting took longer than the configured time. */
export function prepareTimeout(cause: unknown): ApiError {
  return new ApiError("EXPORT_PREPARE_TIMEOUT", { details: { asyncEndpoint: ASYNC_ENDPOINT }, cause });
}
