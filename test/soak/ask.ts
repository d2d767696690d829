/** One request of a client: to any of the API's processes, to the other one when nobody listens, and judged. */

import type { Chance } from "./chance.ts";
import { type Attempt, type End, judge } from "./judge.ts";
import type { Service } from "./service.ts";
import type { Soak } from "./soak.ts";

/** Longer than the service may think about anything. */
const PATIENCE_MS = 60_000;
/** What Bun says when nobody listens. */
const REFUSED = "ConnectionRefused ECONNREFUSED";

export interface Ask {
  method?: string;
  path: string;
  key?: string | undefined;
  /** The slug for `X-Org-Slug`. */
  org?: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** 200 when left out. */
  expects?: readonly number[];
  /** One that is made while it is sent. */
  isExport?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The body, parsed. */
  json<Body>(): Body;
}

/**
 * Asks, and notes what is wrong with the answer. `null` when there is none that says what became of the request:
 * whoever wrote something does not know then whether it is written.
 */
export async function ask(soak: Soak, chance: Chance, request: Ask): Promise<Answer | null> {
  const [first, ...others] = chance.shuffle(soak.apis);
  if (!first) throw new Error("Cannot ask: there is no API");
  let end = await attempt(soak, first, request);
  // Where nobody listens, nothing was done.
  for (const other of others) if (end.type === "refused") end = await attempt(soak, other, request);
  if (end.type !== "answer" || end.status === 503) return null;
  const { status, headers, body } = end;
  return { status, headers, body, json: <Body>() => JSON.parse(body.toString()) as Body };
}

/** Sends it to one process. */
async function attempt(soak: Soak, api: Service, request: Ask): Promise<End> {
  const from = performance.now();
  const end = await send(`${api.url}${request.path}`, request);
  const { method = "GET", path, expects = [200], isExport = false } = request;
  const label = end.type === "answer" && end.status === 503 ? "503" : `${method} ${patternOf(path)}`;
  soak.tally.most(`slowest/${label}`, performance.now() - from);
  note(
    soak,
    { what: `${method} ${path}`, api: api.name, from, to: performance.now(), expects, isExport },
    end,
  );
  return end;
}

/** A path without what makes it one of many. */
function patternOf(path: string): string {
  const [bare = ""] = path.split("?");
  return bare
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|(?:lab|model|agent|edited)-\d+/g, "…")
    .replace("/api/v1", "");
}

/** Counts an end and notes what is wrong with it. */
export function note({ tally, findings, outages }: Soak, attempt: Attempt, end: End): void {
  tally.add("requests");
  tally.add(`end/${end.type === "answer" ? end.status : end.type}`);
  if (end.type !== "answer" || end.status >= 500 || end.status === 429) {
    tally.add(`error/${end.type === "answer" ? end.status : end.type}`);
  }
  const complaint = judge(attempt, end, outages);
  if (complaint) findings.add("a wrong answer", `${attempt.what} (${attempt.api}): ${complaint}`);
}

async function send(url: string, request: Ask): Promise<End> {
  const { method = "GET", key, org, headers = {}, body } = request;
  let hasHead = false;
  try {
    const response = await fetch(url, {
      method,
      // Bun sends a request again when a kept connection turns out to be dead: a write could be done twice.
      keepalive: method === "GET",
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(org ? { "x-org-slug": org } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    hasHead = true;
    const content = Buffer.from(await response.arrayBuffer());
    return { type: "answer", status: response.status, headers: response.headers, body: content };
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
