/** Turns any exception into the error envelope (docs/contract.md, Errors). */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import { DeadlineExceeded } from "../../shared/process/with_timeout.ts";
import { isDatabaseFault } from "../../sql/connection/database_fault.ts";
import { hasSqlState, QUERY_CANCELED, violates } from "../../sql/connection/pool.ts";
import { bytesResponse } from "./bytes_response.ts";
import type { RequestContext } from "./request_context.ts";

export interface ErrorBody {
  error: {
    code: ErrorCode;
    message: string;
    requestId: string;
    details?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Returns the error for a database that is unavailable or too slow; `message` replaces the default message. */
export function unavailable(cause: unknown, message?: string): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", { message, cause });
}

/** Runs the task. Throws SERVICE_UNAVAILABLE with the message if a statement times out. */
export async function withinTimeout<Result>(message: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw hasSqlState(error, QUERY_CANCELED) ? unavailable(error, message) : error;
  }
}

/** Error codes of an open connection that broke. A commit may already have been sent. */
const LOST_CONNECTION = new Set(["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "ECONNRESET", "EPIPE"]);

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && LOST_CONNECTION.has(String(error.code));
}

/** Returns the error for the client. Internal errors become a 500 without details. */
function toApiError(error: unknown, { writes }: RequestContext): ApiError {
  if (error instanceof ApiError) return error;
  if (writes && isLostConnection(error)) return unavailable(error, TEXTS.SERVICE_UNAVAILABLE.outcomeUnknown);
  if (isDatabaseFault(error) || error instanceof DeadlineExceeded) return unavailable(error);
  // The key or session ended, or its user was disabled, while the write waited.
  if (violates(error, "audit_log_live_credential")) {
    return new ApiError("UNAUTHORIZED", { message: TEXTS.UNAUTHORIZED.credential, cause: error });
  }
  return new ApiError("INTERNAL_SERVER_ERROR", { cause: error });
}

/** Returns the error response, and stores the error in the context for the log. */
export function respondError(context: RequestContext, thrown: unknown): Response {
  const error = toApiError(thrown, context);
  context.error = error;
  // If a stream was announced, it never began, so there is no end to wait for.
  context.streamEnd = null;
  const { code, message, details } = error;
  const body: ErrorBody = { error: { code, message, requestId: context.requestId, details } };
  return bytesResponse(JSON.stringify(body), {
    status: error.status,
    headers: {
      "Content-Type": "application/json;charset=utf-8",
      "Cache-Control": "no-store",
      ...error.headers,
    },
  });
}
