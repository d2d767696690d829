/**
 * Error responses in the OpenAPI document, one per status, with an example of each code. Each code has its own schema, so that
 * clients can narrow `details` by `code`.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { ApiError, ERRORS, type ErrorCode } from "../../shared/errors.ts";
import { oneOf, Text, taggedUnion } from "../../shared/schemas.ts";
import { maxBodyBytes } from "../http/body/request_body.ts";
import type { AnyOperation } from "../http/operation.ts";
import { ERROR_HEADERS } from "./headers.ts";
import { isApiPath, isRepeatable } from "./parameters.ts";
import type { OpenApiResponse } from "./types.ts";

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

/** Returns the errors implied by an operation's declaration. */
function commonFailures(operation: AnyOperation): ErrorCode[] {
  const { path, method, access, reads, unlimited } = operation;
  const hasBody = method !== "GET";
  const writes = hasBody && !reads;
  const isSession = access === "session";
  const rules: [ErrorCode, boolean][] = [
    ["VALIDATION_ERROR", true],
    ["UNAUTHORIZED", isApiPath(path)],
    ["RATE_LIMITED", !unlimited],
    ["SESSION_REQUIRED", isSession],
    // Routes that require a session accept no keys, so there is no scope to check.
    ["INSUFFICIENT_SCOPE", writes && !isSession],
    ["FORBIDDEN_ORIGIN", writes],
    ["REQUEST_TIMEOUT", hasBody],
    ["PAYLOAD_TOO_LARGE", hasBody],
    ["UNSUPPORTED_MEDIA_TYPE", hasBody],
    ["IDEMPOTENCY_IN_PROGRESS", isRepeatable(operation)],
    ["IDEMPOTENCY_KEY_USED", isRepeatable(operation)],
    ["IDEMPOTENCY_KEY_REUSED", isRepeatable(operation)],
    ["INTERNAL_SERVER_ERROR", true],
    ["SERVICE_UNAVAILABLE", true],
  ];
  return rules.flatMap(([code, applies]) => (applies ? code : []));
}

/** Errors of operations for members only. An operation with one of these errors may require a second factor. */
const ABOUT_MEMBERS = ["ORG_ACCESS_DENIED", "PROJECT_NOT_FOUND", "EXPORT_JOB_NOT_FOUND"] as const;
const ORG_IS_CLOSED = [["SECOND_FACTOR_REQUIRED", { organization: "demo" }]] as const;

/** Returns an operation's error responses by status, both common and declared ones. */
export function failureResponses(operation: AnyOperation): Record<string, OpenApiResponse> {
  const { path, fails = [], maxBodyBytes: maxSize = maxBodyBytes(path) } = operation;
  const own = fails.map((failure) => (typeof failure === "string" ? ([failure] as const) : failure));
  const isOwn = (code: ErrorCode) => own.some(([listedCode]) => listedCode === code);
  const common = commonFailures(operation).filter((code) => !isOwn(code));
  const defaults: typeof DETAILS = { ...DETAILS, PAYLOAD_TOO_LARGE: { maxSize } };
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
    const { message } = new ApiError(code, { details });
    examples[name] = { value: { error: { code, message, requestId: EXAMPLE_REQUEST_ID, details } } };
  }
  const codes = [...new Set(failures.map(({ code }) => code))];
  return {
    // Markdown would render "<token>" as an HTML element.
    description: codes
      .map((code) => `\`${code}\`: ${ERRORS[code].message.replaceAll("<", "\\<")}`)
      .join("\n\n"),
    ...(ERROR_HEADERS[status] ? { headers: ERROR_HEADERS[status] } : {}),
    content: { "application/json": { schema: errorEnvelope(codes), examples } },
  };
}

/** Converts a text to Pascal case, such as `ExportTooLarge`. */
export function pascalCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/(?:^|[^a-z0-9]+)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function detailsSchema(code: ErrorCode): TSchema {
  const row = ERRORS[code];
  return "details" in row ? row.details : Type.Unsafe({ type: "object", additionalProperties: true });
}

/** Returns the schema of the error with this code. Its title is, for example, `ExportTooLargeError`. */
function errorSchema(code: ErrorCode) {
  const details = Type.Optional(detailsSchema(code));
  const title = `${pascalCase(code).replace(/Error$/, "")}Error`;
  return Type.Object({ code: oneOf([code]), message: Text, requestId: Text, details }, { title });
}

/** Returns the schema of an error response with one of these codes. */
function errorEnvelope(codes: readonly ErrorCode[]) {
  const schemas = codes.map(errorSchema);
  const [only, ...others] = schemas;
  return Type.Object({ error: only && others.length === 0 ? only : taggedUnion("code", schemas) });
}
