/** The rules that responses must follow, given the request and the outages at that time. */
import type { Outages } from "./outages.ts";

/** Statuses whose responses must have a `Retry-After` header. */
const LATER = [429, 503];

/** The properties of a request that the rules depend on. */
export interface Attempt {
  /** The method and path, for example `GET /api/v1/models`. */
  what: string;
  /** The name of the API process. */
  api: string;
  /** The times of the request and of its outcome, by `performance.now()`. */
  from: number;
  to: number;
  /** The allowed statuses of the response while every component is up. */
  expects: readonly number[];
  /** True if the response is streamed while it is produced. Such a response breaks off if the database goes down. */
  isExport: boolean;
  /** True if the request's concurrency is limited. The response may then ask the client to retry. */
  hasSlot: boolean;
}

/** The outcome of a request. */
export type End =
  | { type: "answer"; status: number; headers: Headers; body: Buffer }
  /** The connection was refused, so the request had no effect. */
  | { type: "refused" }
  /** The connection was lost, before or after the head of the response. */
  | { type: "broken"; hasHead: boolean; message: string }
  /** No response within the time limit. */
  | { type: "silent" };

interface Envelope {
  error?: { code?: string; message?: string; requestId?: string };
}

/** Describes how an outcome breaks the rules; null if it follows them. */
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

/** Returns true if the response says that all slots of the caller or process are in use. The request can then succeed later. */
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
