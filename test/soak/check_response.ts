/** The rules for every response, whatever was requested and whatever is down. */
import type { Outages } from "./outages.ts";

/** Responses that say when to retry. */
const LATER = [429, 503];

/** The facts of a request that the rules need. */
export interface Attempt {
  /** For example `GET /api/v1/models`. */
  what: string;
  /** The name of the process. */
  api: string;
  /** By `performance.now()`. */
  from: number;
  to: number;
  /** The statuses that this request may have while everything is up. */
  expects: readonly number[];
  /** Streamed while it is made: it breaks when the database goes down. */
  isExport: boolean;
  /** Its concurrency is limited: the response may say to retry. */
  hasSlot: boolean;
}

/** The outcome. */
export type End =
  | { type: "answer"; status: number; headers: Headers; body: Buffer }
  /** Nothing listened: the request had no effect. */
  | { type: "refused" }
  /** The connection was lost, before or after the head of the response. */
  | { type: "broken"; hasHead: boolean; message: string }
  /** No response within the time limit. */
  | { type: "silent" };

interface Envelope {
  error?: { code?: string; message?: string; requestId?: string };
}

/** Returns what is wrong with an outcome; null if nothing is. */
export function checkOutcome(attempt: Attempt, end: End, outages: Outages): string | null {
  const isAway = (what: string) => outages.cover(what, attempt.from, attempt.to);
  if (end.type === "silent") return `no answer in ${Math.round((attempt.to - attempt.from) / 1000)} s`;
  if (end.type === "refused") return isAway(attempt.api) ? null : "refused, although the process was there";
  if (end.type === "broken") {
    if (isAway(attempt.api)) return null;
    if (end.hasHead && attempt.isExport && isAway("database")) return null;
    return `broke ${end.hasHead ? "in its body" : "before its head"}, without a reason: ${end.message}`;
  }
  return checkAnswer(attempt, end, isAway);
}

function checkAnswer(
  attempt: Attempt,
  answer: Extract<End, { type: "answer" }>,
  isAway: (what: string) => boolean,
): string | null {
  const { status, headers } = answer;
  const isExpected = attempt.expects.includes(status);
  if (status < 400) return isExpected ? null : `answered ${status}`;
  const { error } = parseEnvelope(answer.body);
  const said = `answered ${status} ${error?.code ?? answer.body.toString("utf8", 0, 200)}: ${error?.message ?? ""}`;
  if (!error?.code || error.requestId !== headers.get("x-request-id")) return `${said}, without its envelope`;
  if (LATER.includes(status) && !(Number(headers.get("retry-after")) > 0))
    return `${said}, without Retry-After`;
  if (isExpected || isToldToWait(attempt, answer)) return null;
  if (status !== 503) return `${said} (request ${error.requestId})`;
  return isAway("database") ? null : `${said}, although the database was there`;
}

/** True if all slots of the caller or process are in use: the same request succeeds later. */
export function isToldToWait({ hasSlot }: Pick<Attempt, "hasSlot">, end: End): boolean {
  if (!hasSlot || end.type !== "answer" || !LATER.includes(end.status)) return false;
  if (end.status === 429) return true;
  return / are running$|[Tt]his server is running /.test(parseEnvelope(end.body).error?.message ?? "");
}

function parseEnvelope(body: Buffer): Envelope {
  try {
    return JSON.parse(body.toString()) as Envelope;
  } catch {
    return {};
  }
}
