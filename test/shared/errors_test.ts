import { expect, test } from "bun:test";
import { ApiError, ERRORS, type ErrorCode } from "../../shared/errors.ts";

test("an error's message includes the error's details, unless the caller passes a message", () => {
  const texts = [
    new ApiError("PAYLOAD_TOO_LARGE", { details: { maxSize: 4096 } }),
    new ApiError("PAYLOAD_TOO_LARGE"),
    new ApiError("PAYLOAD_TOO_LARGE", { details: { maxSize: 4096 }, message: "No." }),
    new ApiError("QUOTA_EXCEEDED", { details: { quota: "webhooks", limit: 10 } }),
    new ApiError("QUOTA_EXCEEDED", { details: { quota: "drafts", limit: 5000 } }),
    new ApiError("NOT_FOUND", { details: { reason: "key" } }),
    new ApiError("NOT_FOUND", { details: { reason: "model" } }),
  ].map(({ message }) => message);
  expect(texts).toEqual([
    "The request body is too large. Send at most 4096 bytes.",
    "The request body is too large.",
    "No.",
    "The organization has 10 webhooks, the maximum. Delete one that is no longer needed.",
    "The quota of 5,000 drafts is used up.",
    "API key not found. List your keys with GET /api/v1/auth/keys.",
    "Not found. Check the name or id.",
  ]);
});

test("an error gets Retry-After from its code or from the caller, and keeps the caller's other headers", () => {
  expect(new ApiError("SERVICE_UNAVAILABLE").headers).toEqual({ "Retry-After": "5" });
  expect(new ApiError("RATE_LIMITED", { retryAfter: 17 }).headers).toEqual({ "Retry-After": "17" });
  const headers = { "Content-Range": "bytes */9" };
  expect(new ApiError("RANGE_NOT_SATISFIABLE", { details: { bytes: 9 }, headers }).headers).toEqual(headers);
});

test("every error code with status 429 or 503, except EXPORT_JOB_LIMIT, sets Retry-After by default", () => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const silent = codes
    .filter((code) => [429, 503].includes(ERRORS[code].status))
    .filter((code) => {
      return code !== "EXPORT_JOB_LIMIT" && new ApiError(code).headers["Retry-After"] === undefined;
    });
  expect(silent).toEqual([]);
});

test("invalid details for an error code do not compile", () => {
  // @ts-expect-error: "gone" is not a status of definitions.
  expect(new ApiError("NOT_DELETABLE", { details: { status: "gone" } }).status).toBe(409);
  // @ts-expect-error: the limit is missing.
  expect(new ApiError("QUOTA_EXCEEDED", { details: { quota: "keys" } }).status).toBe(409);
});
