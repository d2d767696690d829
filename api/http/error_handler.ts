/** Turns whatever was thrown into the one error envelope (docs/contract.md, Errors). */
import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import { DeadlineExceeded } from "../../shared/process/with_timeout.ts";
import { isConnectionError } from "../../sql/connection/pool.ts";
import type { RequestContext } from "./request_context.ts";
import { describeValidation, isValidationError } from "./validation_problems.ts";

/** How long a client should wait when the database is away: long enough for a failover to be under way. */
const RETRY_AFTER_SECONDS = 5;

export interface ErrorBody {
  error: {
    code: ErrorCode;
    message: string;
    requestId: string;
    details?: Readonly<Record<string, unknown>>;
  };
}

/** What Elysia throws itself carries a code of Elysia's. */
function elysiaCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** The refusal when the database is away or too slow; with `message`, in words that say more than the table's. */
export function unavailable(cause: unknown, message?: string): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    ...(message === undefined ? {} : { message }),
    headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** What a client learns of a write whose end nobody saw. */
export const OUTCOME_UNKNOWN =
  "The outcome is unknown. Check whether the change was applied before retrying.";

/** Codes of connections that were open, so that a commit may have been on its way. */
const LOST_CONNECTION = new Set(["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "ECONNRESET", "EPIPE"]);

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && LOST_CONNECTION.has(String(error.code));
}

/** The failure a client is told about. Internal errors become a 500 without details. */
function toApiError(error: unknown, { writes }: RequestContext): ApiError {
  if (error instanceof ApiError) return error;
  if (writes && isLostConnection(error)) return unavailable(error, OUTCOME_UNKNOWN);
  // A response that breaks its own schema is our bug, not the client's: Elysia would say 422.
  if (isValidationError(error) && error.type !== "response") return describeValidation(error);
  if (isConnectionError(error) || error instanceof DeadlineExceeded) return unavailable(error);
  const code = elysiaCode(error);
  if (code === "NOT_FOUND") return new ApiError("NOT_FOUND", { details: { reason: "route" } });
  if (code === "PARSE") return new ApiError("VALIDATION_ERROR", { cause: error });
  return new ApiError("INTERNAL_SERVER_ERROR", { cause: error });
}

/** The response that tells a client of a failure; the context keeps the failure for the log. */
export function respondError(context: RequestContext, thrown: unknown): Response {
  const error = toApiError(thrown, context);
  context.error = error;
  // A stream that was announced and then refused has no end to wait for.
  context.streamEnd = null;
  const { code, message, details } = error;
  const body: ErrorBody = {
    error: { code, message, requestId: context.requestId, ...(details ? { details } : {}) },
  };
  return Response.json(body, {
    status: error.status,
    headers: { "Cache-Control": "no-store", ...error.headers },
  });
}
