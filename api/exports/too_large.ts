/** The errors of exports that are refused once their rows are counted. */
import { ApiError } from "../../shared/errors.ts";
import type { WrongTimeError } from "../../sql/exports/wrong_time_error.ts";

const ASYNC_ENDPOINT = "/api/v1/export/jobs";

/** EXPORT_TOO_LARGE: `rows` is how many were counted before counting stopped. */
export function tooLarge(rows: number, limit: number): ApiError {
  return new ApiError("EXPORT_TOO_LARGE", { details: { rows, limit, asyncEndpoint: ASYNC_ENDPOINT } });
}

/** EXPORT_PREPARE_TIMEOUT: counting took longer than the configured time. */
export function prepareTimeout(cause: unknown): ApiError {
  return new ApiError("EXPORT_PREPARE_TIMEOUT", { details: { asyncEndpoint: ASYNC_ENDPOINT }, cause });
}

/** UNPROCESSABLE_ENTITY: a row has a time that no format can write. */
export function wrongTime(error: WrongTimeError): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: `${error.message}.`,
    details: { reason: "time", ...error.row },
    cause: error,
  });
}
