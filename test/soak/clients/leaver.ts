/** Clients that disconnect while they send a request, wait for the response, or read it. */
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Chance } from "../chance.ts";
import type { ClientKind, Soak } from "../soak.ts";

const LONGEST_MS = 300;
const READ_BYTES = 256 * 1024;

export const makeLeaver: ClientKind = (soak, chance) => async () => {
  const api = chance.pick(soak.apis);
  soak.tally.add("disconnects");
  if (chance.happens(0.2)) return sendHalf(new URL(api.url), chance);
  const { noisy, member } = soak.world;
  const path = chance.pick([
    `/export/projects/${noisy.id}/runs`,
    `/export/projects/${noisy.id}/bundle`,
    `/export/projects/${chance.pick(soak.world.projects).id}/issues?format=csv`,
    "/definitions?search=review",
  ]);
  await leave(soak, `${api.url}/api/v1${path}`, { key: member.key, afterMs: chance.between(1, LONGEST_MS) });
};

/** Sends a request, reads at most part of the response, and disconnects. */
async function leave(
  { over }: Soak,
  url: string,
  { key, afterMs }: { key: string; afterMs: number },
): Promise<void> {
  const signal = AbortSignal.any([AbortSignal.timeout(afterMs), over]);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}` },
      signal,
      keepalive: false,
    });
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > READ_BYTES) break;
    }
  } catch {
    // The client disconnected before the response was complete, or the process was down. Neither is a finding.
  }
}

/** Sends a request with part of its body, and disconnects. */
async function sendHalf({ hostname, port }: URL, chance: Chance): Promise<void> {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write("POST /api/v1/users/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n");
  socket.write("Content-Type: application/json\r\n\r\n{");
  await delay(chance.between(1, LONGEST_MS));
  socket.destroy();
}
