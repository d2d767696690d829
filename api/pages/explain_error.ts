/** Rewrites API errors for pages, whose visitors send no headers and call no endpoints. */
import { OTHER_ORG_ADVICE, WAIT_ADVICE } from "../../shared/error_texts.ts";
import type { ApiError, ErrorCode } from "../../shared/errors.ts";
import { countOf } from "./parts.ts";

const BETWEEN_SENTENCES = /(?<=[.?!]) /;
const ENDPOINT = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|\/api\/v1\//;

/** Advice for errors whose API advice names an endpoint. */
const PAGE_ADVICE: Partial<Record<ErrorCode, string>> = {
  EXPORT_TOO_LARGE: "Start an organization export instead.",
  SECOND_FACTOR_REQUIRED: "Confirm with yours under Settings, Second factor.",
  UNPROCESSABLE_ENTITY: "Add one under Settings, Second factor.",
};

/** Messages for errors whose API message names a header that the form sends. */
const PAGE_TEXTS: Partial<Record<ErrorCode, string>> = {
  IDEMPOTENCY_IN_PROGRESS:
    "This form was sent before and is still being processed. Check the result before you send it again.",
  IDEMPOTENCY_KEY_REUSED:
    "This form was sent before, with other values. Check what was saved, then send it again.",
};

/** Replaces OTHER_ORG_ADVICE, which names a header. */
export const PAGE_ORG_ADVICE = "You can choose another organization at the top of the page.";

export function explainError({ code, message, headers, details }: ApiError): string {
  const text = (PAGE_TEXTS[code] ?? message)
    .replace(OTHER_ORG_ADVICE, PAGE_ORG_ADVICE)
    .replace(WAIT_ADVICE, describeWait(Number(headers["Retry-After"])));
  // Messages about a document may quote endpoints from it, so no sentence is removed.
  if (details?.["errors"] !== undefined) return text;
  const sentences = text.split(BETWEEN_SENTENCES);
  const shown = sentences.filter((sentence) => !ENDPOINT.test(sentence));
  const advice = shown.length < sentences.length ? (PAGE_ADVICE[code] ?? []) : [];
  return shown.concat(advice).join(" ");
}

/** Returns the waiting time as a sentence: `Try again in 5 minutes.` */
export function describeWait(seconds: number): string {
  if (!(seconds > 0)) return "Try again later.";
  if (seconds >= 120) return `Try again in ${countOf(Math.ceil(seconds / 60), "minute")}.`;
  return `Try again in ${countOf(seconds, "second")}.`;
}
