/** The error responses in the OpenAPI document: one per status, with an example of each code. */
import { ApiError, ERRORS, type ErrorCode } from "../../shared/errors.ts";
import type { Failure } from "../http/operation.ts";
import type { Access } from "../http/route.ts";
import { errorEnvelope } from "./error_schemas.ts";
import { headerRef } from "./headers.ts";
import type { OpenApiResponse } from "./types.ts";

/** The properties of an operation that decide which common errors it has. */
export interface OperationTraits {
  /** Under /api/v1: requests are authenticated and rate limited. */
  isApi: boolean;
  access: Access;
  isCounted: boolean;
  /** Null if no body is read. */
  maxBodyBytes: number | null;
  writes: boolean;
  /** Takes an idempotency key. */
  isRepeatable: boolean;
}

const EXAMPLE_REQUEST_ID = "3f0c1f5e-5f0e-4f43-9f0b-6a3a8f8f2d10";
const ASYNC_ENDPOINT = "/api/v1/export/jobs";

/** Example `details` by code. */
const DETAILS: Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>> = {
  VALIDATION_ERROR: { errors: [{ path: "limit", message: "must be a whole number from 1 to 100" }] },
  SUBSCRIPTION_REQUIRED: { requiredTier: "hobbyist", currentTier: "free", feature: "export" },
  INSUFFICIENT_ORG_ROLE: { currentRole: "viewer", requiredRole: "publisher" },
  SECOND_FACTOR_REQUIRED: { maxAgeSeconds: 900 },
  EXPORT_JOB_RUNNING: { status: "running" },
  EXPORT_JOB_FINISHED: { status: "ready" },
  EXPORT_NOT_READY: { status: "running" },
  EXPORT_JOB_FAILED: { errorCode: "BUILD_TIMEOUT" },
  IDEMPOTENCY_KEY_USED: { type: "api_key", id: "0b4f8f3e-7d2a-4c55-8f0e-2a1f6f1c9d10" },
  EXPORT_EXPIRED: { expiresAt: "2026-11-23T10:05:00.000Z" },
  EXPORT_TOO_LARGE: { rows: 250_001, limit: 250_000, asyncEndpoint: ASYNC_ENDPOINT },
  RANGE_NOT_SATISFIABLE: { bytes: 1_048_576 },
  UNPROCESSABLE_ENTITY: { errors: [{ path: "ids.0", message: "must be a UUID" }] },
  EXPORT_JOB_LIMIT: { limit: 5 },
  EXPORT_PREPARE_TIMEOUT: { asyncEndpoint: ASYNC_ENDPOINT },
};

/** Response headers by status. */
const HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Errors of a repeated idempotency key. */
const REPEATED = ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_USED", "IDEMPOTENCY_KEY_REUSED"] as const;

/** Returns the errors that any operation with these traits can have. */
function commonFailures(traits: OperationTraits): ErrorCode[] {
  const { isApi, access, isCounted, maxBodyBytes, writes, isRepeatable } = traits;
  return [
    "VALIDATION_ERROR",
    ...(isApi ? (["UNAUTHORIZED"] as const) : []),
    ...(isCounted ? (["RATE_LIMITED"] as const) : []),
    ...(access === "session" ? (["SESSION_REQUIRED"] as const) : []),
    // Routes that require a session accept no keys, so there is no scope to check.
    ...(writes && access !== "session" ? (["INSUFFICIENT_SCOPE"] as const) : []),
    ...(writes ? (["FORBIDDEN_ORIGIN"] as const) : []),
    ...(maxBodyBytes ? (["REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
    ...(isRepeatable ? REPEATED : []),
    "INTERNAL_SERVER_ERROR",
    "SERVICE_UNAVAILABLE",
  ];
}

/** What only members see may require a second factor of them. */
const ABOUT_MEMBERS = ["ORG_ACCESS_DENIED", "PROJECT_NOT_FOUND", "EXPORT_JOB_NOT_FOUND"] as const;
const ORG_IS_CLOSED = [["SECOND_FACTOR_REQUIRED", { organization: "demo" }]] as const;

/** Returns the error responses by status: the common ones and those that the route lists. */
export function failureResponses(
  traits: OperationTraits,
  listed: readonly Failure[],
): Record<string, OpenApiResponse> {
  const own = listed.map((failure) => (typeof failure === "string" ? ([failure] as const) : failure));
  const isOwn = (code: ErrorCode) => own.some(([listedCode]) => listedCode === code);
  const common = commonFailures(traits).filter((code) => !isOwn(code));
  const defaults: typeof DETAILS = { ...DETAILS, PAYLOAD_TOO_LARGE: { maxSize: traits.maxBodyBytes } };
  const implied = ABOUT_MEMBERS.some(isOwn) && !isOwn("SECOND_FACTOR_REQUIRED") ? ORG_IS_CLOSED : [];
  const failures = [...common.map((code) => [code] as const), ...own, ...implied].map(
    ([code, details = defaults[code]]) => ({ code, details, status: ERRORS[code].status }),
  );
  const byStatus = Map.groupBy(failures, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, responseOf(status, group)]));
}

function responseOf(
  status: number,
  failures: readonly { code: ErrorCode; details: Readonly<Record<string, unknown>> | undefined }[],
): OpenApiResponse {
  const examples: Record<string, { value: object }> = {};
  for (const { code, details } of failures) {
    const name = code in examples ? `${code} (${Object.values(details ?? {}).join(", ")})` : code;
    const { message } = new ApiError(code, details ? { details } : {});
    const error = { code, message, requestId: EXAMPLE_REQUEST_ID };
    examples[name] = { value: { error: { ...error, ...(details ? { details } : {}) } } };
  }
  const codes = [...new Set(failures.map(({ code }) => code))];
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join("\n\n"),
    headers: Object.fromEntries((HEADERS[status] ?? []).map((header) => [header, headerRef(header)])),
    content: { "application/json": { schema: errorEnvelope(codes), examples } },
  };
}
