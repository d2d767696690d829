/**
 * Sends a client's requests to a random API process and checks the responses. If the process refuses the connection,
 * the request is sent to another one.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import { type Attempt, checkOutcome, type End, isToldToWait } from "./check_response.ts";
import type { Service } from "./service.ts";
import type { Soak } from "./soak.ts";

/** The timeout of a request, longer than any response may take. */
const PATIENCE_MS = 60_000;
/** The maximum number of attempts when responses ask the client to retry. */
const TRIES = 6;
/** Bun's error codes for a refused connection. */
const REFUSED = "ConnectionRefused ECONNREFUSED";

export interface Ask {
  method?: string;
  path: string;
  key?: string | undefined;
  /** The slug for `X-Org-Slug`. */
  org?: string;
  headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  body?: unknown;
  /** The expected statuses; 200 by default. */
  expects?: readonly number[];
  /** True if the response is streamed while it is produced. */
  isExport?: boolean;
  /** True if the number of concurrent requests of this kind is limited. Defaults to `isExport`. */
  hasSlot?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** Parses the body as JSON. */
  json<Body>(): Body;
}

/**
 * Sends a request and records a finding if the response is wrong. Returns null if no response arrives, the response is a 503, or
 * the load ends during the retries. Whether a write was applied is then unknown.
 */
export async function ask(soak: Soak, chance: Chance, request: Ask): Promise<Answer | null> {
  const end = await askUntilServed(soak, chance, request);
  if (end?.type !== "answer" || end.status === 503) return null;
  const { status, headers, body } = end;
  return { status, headers, body, json: <Body>() => JSON.parse(body.toString()) as Body };
}

/** Sends a request, and retries up to `TRIES` times while responses ask the client to wait. Returns null if the load ends first. */
async function askUntilServed(soak: Soak, chance: Chance, request: Ask): Promise<End | null> {
  for (let tries = 1; !soak.over.aborted || tries === 1; tries += 1) {
    const end = await askAnyApi(soak, chance, request);
    if (!isToldToWait({ hasSlot: takesSlot(request) }, end) || end.type !== "answer") return end;
    soak.tally.add("told to wait");
    if (tries === TRIES) {
      soak.findings.add(
        "a client was turned away",
        `${request.path}: ${end.status}, ${tries} times in a row`,
      );
      return end;
    }
    const seconds = Number(end.headers.get("retry-after"));
    await delay(seconds * 1000 * chance.between(1, 2), undefined, { signal: soak.over }).catch(() => {});
  }
  return null;
}

function takesSlot({ isExport = false, hasSlot = isExport }: Ask): boolean {
  return hasSlot;
}

async function askAnyApi(soak: Soak, chance: Chance, request: Ask): Promise<End> {
  const [first, ...others] = chance.shuffle(soak.apis);
  if (!first) throw new Error("Cannot ask: there is no API");
  let end = await attempt(soak, first, request);
  // A refused connection means that the request had no effect, so another process may receive it.
  for (const other of others) if (end.type === "refused") end = await attempt(soak, other, request);
  return end;
}

/** Sends a request to one API process. */
async function attempt(soak: Soak, api: Service, request: Ask): Promise<End> {
  const { method = "GET", path, expects = [200], isExport = false } = request;
  const from = performance.now();
  const headers = { "x-forwarded-for": soak.sender.nextAddress(), ...request.headers };
  const end = await send(`${api.url}${path}`, { ...request, headers });
  const label = end.type === "answer" && end.status === 503 ? "503" : `${method} ${patternOf(path)}`;
  soak.tally.most(`slowest/${label}`, performance.now() - from);
  const hasSlot = takesSlot(request);
  const to = performance.now();
  note(soak, { what: `${method} ${path}`, api: api.name, from, to, expects, isExport, hasSlot }, end);
  const isServed = end.type === "answer" && expects.includes(end.status);
  if (isServed && !soak.outages.coverAny(from, to)) soak.latencies.add(soak.sender.kind, to - from);
  return end;
}

/** Replaces ids and removes the query of a path, so that requests to one route share a counter. */
function patternOf(path: string): string {
  const [bare = ""] = path.split("?");
  return bare
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|(?:lab|model|agent|edited)-\d+/g, "…")
    .replace("/api/v1", "");
}

/** Counts an outcome and records a finding if it is wrong. */
export function note({ tally, findings, outages }: Soak, attempt: Attempt, end: End): void {
  tally.add("requests");
  tally.add(`end/${end.type === "answer" ? end.status : end.type}`);
  if (end.type !== "answer" || end.status >= 500 || end.status === 429) {
    tally.add(`error/${end.type === "answer" ? end.status : end.type}`);
  }
  const complaint = checkOutcome(attempt, end, outages);
  if (complaint) findings.add("a wrong answer", `${attempt.what} (${attempt.api}): ${complaint}`);
}

/** Sends a request. `rawBody` replaces the JSON of `body`. */
export async function send(url: string, request: Ask & { rawBody?: string }): Promise<End> {
  const { method = "GET", key, org, headers = {}, body } = request;
  const content = request.rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  let hasHead = false;
  try {
    const response = await fetch(url, {
      method,
      // Bun resends a request if a reused connection turns out to be closed, which could repeat a write.
      keepalive: method === "GET",
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(org ? { "x-org-slug": org } : {}),
        ...(content === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    hasHead = true;
    const received = Buffer.from(await response.arrayBuffer());
    return { type: "answer", status: response.status, headers: response.headers, body: received };
  } catch (error) {
    return endOf(error, hasHead);
  }
}

function endOf(error: unknown, hasHead: boolean): End {
  if (!(error instanceof Error)) throw new Error(`Cannot tell what happened: ${error}`);
  if (error.name === "TimeoutError") return { type: "silent" };
  const code = "code" in error ? String(error.code) : "";
  if (code !== "" && REFUSED.includes(code)) return { type: "refused" };
  return { type: "broken", hasHead, message: error.message };
}
