import { expect, test } from "bun:test";
import { explainError } from "../../../api/pages/explain_error.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError, type ApiErrorOptions, ERRORS, type ErrorCode } from "../../../shared/errors.ts";

const FACTOR = "Confirm with yours under Settings, Second factor.";

test.each<[ErrorCode, ApiErrorOptions, string]>([
  ["LAST_OWNER", {}, "The organization would have no owner. Make another member an owner first."],
  [
    "NAME_TAKEN",
    { message: TEXTS.NAME_TAKEN.fork({ type: "agent", name: "reviewer" }, "acme") },
    'Organization "acme" already has agent "reviewer". Choose another name for the fork. You can choose another organization at the top of the page.',
  ],
  ["SECOND_FACTOR_REQUIRED", {}, `This requires a second factor. ${FACTOR}`],
  [
    "SECOND_FACTOR_REQUIRED",
    { message: TEXTS.SECOND_FACTOR_REQUIRED.recent },
    `This requires a second factor used within the last 15 minutes. ${FACTOR}`,
  ],
  [
    "UNPROCESSABLE_ENTITY",
    { message: TEXTS.UNPROCESSABLE_ENTITY.noFactor },
    "You have no second factor. Add one under Settings, Second factor.",
  ],
  [
    "UNPROCESSABLE_ENTITY",
    {
      message: TEXTS.UNPROCESSABLE_ENTITY.definition('"POST /reviews" is not allowed. Use one of: a, b.'),
      details: { errors: [{ path: "agent.domain", message: "is not allowed" }] },
    },
    'The definition has errors. "POST /reviews" is not allowed. Use one of: a, b.',
  ],
  [
    "EXPORT_TOO_LARGE",
    { details: { rows: 300_001, limit: 250_000, asyncEndpoint: "/api/v1/export/jobs" } },
    "The export has at least 300,001 rows; up to 250,000 can be streamed. Start an organization export instead.",
  ],
  [
    "RATE_LIMITED",
    { message: TEXTS.RATE_LIMITED.invitations(30), retryAfter: 1500 },
    "You have sent 30 invitations within an hour, the maximum. Try again in 25 minutes.",
  ],
  [
    "IDEMPOTENCY_IN_PROGRESS",
    { retryAfter: 1 },
    "This form was sent before and is still being processed. Check the result before you send it again.",
  ],
  [
    "IDEMPOTENCY_KEY_REUSED",
    {},
    "This form was sent before, with other values. Check what was saved, then send it again.",
  ],
  ["RATE_LIMITED", { retryAfter: 1 }, "Too many requests. Try again in 1 second."],
])("%s is explained in words for people", (code, options, expected) => {
  expect(explainError(new ApiError(code, options))).toBe(expected);
});

test("no explanation mentions a header or an endpoint", () => {
  // Pages name the organization of a definition, so they never get this error.
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== "AMBIGUOUS_ORGANIZATION");
  for (const code of codes) {
    const text = explainError(new ApiError(code));
    expect([code, text]).toEqual([code, expect.not.stringMatching(/Retry-After|X-Org-Slug|\/api\//)]);
    expect([code, text.endsWith("."), text.length > 10]).toEqual([code, true, true]);
  }
});
