/** Sends the requests of abusers. The service may refuse a request but must not fail. */
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Ask, send } from "./ask.ts";
import type { Chance } from "./chance.ts";
import { checkOutcome, type End } from "./check_response.ts";
import type { Soak, Step } from "./soak.ts";
import type { Abuser } from "./world.ts";

/** A running abuser. */
export interface Assault extends Abuser {
  soak: Soak;
  chance: Chance;
}

export type AbuserKind = (assault: Assault) => Step;

/** Statuses with which the service may refuse excessive requests. */
const REFUSED_FOR_EXCESS = [429, 503];
/** The number of characters of a response to keep, roughly. Only the status line is read. */
const HEAD_CHARACTERS = 2000;
const READ_PAUSE_MS = 1000;

export type Abuse = Ask & {
  /** A body that is sent unchanged, as `application/json`. */
  rawBody?: string;
};

/** Sends a request to a random API process and records the outcome. Returns the status; null if no response arrives. */
export async function abuse({ soak, chance }: Assault, request: Abuse): Promise<number | null> {
  const api = chance.pick(soak.apis);
  const { method = "GET", path, expects = [200] } = request;
  const from = performance.now();
  const headers = { "x-forwarded-for": soak.sender.nextAddress(), ...request.headers };
  const end = await send(`${api.url}${path}`, { ...request, headers });
  const attempt = {
    what: `${method} ${path}`,
    api: api.name,
    from,
    to: performance.now(),
    expects: [...expects, ...REFUSED_FOR_EXCESS],
    isExport: false,
    hasSlot: false,
  };
  const complaint = checkOutcome(attempt, end, soak.outages);
  if (complaint)
    soak.findings.add(
      "a wrong answer to an abuser",
      `${soak.sender.kind}: ${attempt.what} (${api.name}): ${complaint}`,
    );
  const isAway = soak.outages.coverAny(attempt.from, attempt.to);
  soak.abuse.add(soak.sender.kind, isAway ? "in an outage" : describe(end));
  return end.type === "answer" ? end.status : null;
}

function describe(end: End): string {
  return end.type === "answer" ? String(end.status) : end.type;
}

/**
 * Sends a GET and reads one chunk of the response per second. Disconnects after `holdMs` or when the load ends. The service may
 * close the connection earlier, so only the status is checked.
 */
export async function holdOn({ soak, chance }: Assault, request: Ask & { holdMs: number }): Promise<void> {
  const { path, key, expects = [200], holdMs } = request;
  const api = chance.pick(soak.apis);
  const { hostname, port, host } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let head = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    if (head.length < HEAD_CHARACTERS) head += chunk.toString("latin1");
    socket.pause();
  });
  const lines = [
    `GET ${path} HTTP/1.1`,
    `host: ${host}`,
    `x-forwarded-for: ${soak.sender.nextAddress()}`,
    ...(key ? [`authorization: Bearer ${key}`] : []),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const until = performance.now() + holdMs;
  while (performance.now() < until && !socket.destroyed && !soak.over.aborted) {
    await delay(READ_PAUSE_MS, undefined, { signal: soak.over }).catch(() => {});
    socket.resume();
  }
  socket.destroy();
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
  soak.abuse.add(soak.sender.kind, status ?? "no answer");
  if (status && ![...expects, ...REFUSED_FOR_EXCESS].includes(Number(status)))
    soak.findings.add(
      "a wrong answer to an abuser",
      `${soak.sender.kind}: GET ${path} (${api.name}): answered ${status}`,
    );
}
