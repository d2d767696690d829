/** Clients that read a large export slowly, which puts backpressure on the service. */
import { setTimeout as delay } from "node:timers/promises";
import { beginDownload, type DownloadResult } from "../../helpers/exports/slow_download.ts";
import { note } from "../ask.ts";
import { countRows } from "../count_rows.ts";
import type { ClientKind } from "../soak.ts";

const PAUSE_MS = [500, 4000] as const;

export const makeSlowReader: ClientKind = (soak, chance) => {
  const { world, findings, tally } = soak;
  return async () => {
    const api = chance.pick(soak.apis);
    const path = `/api/v1/export/projects/${world.noisy.id}/runs`;
    const from = performance.now();
    const result = await readSlowly(`${api.url}${path}`, world.member.key, chance.between(...PAUSE_MS));
    const attempt = { what: `GET ${path}, slowly`, api: api.name, from, to: performance.now() };
    const end =
      result === null
        ? ({ type: "broken", hasHead: false, message: "no answer" } as const)
        : result.isWhole
          ? ({ type: "answer", ...result } as const)
          : ({ type: "broken", hasHead: true, message: "a part of the body" } as const);
    note(soak, { ...attempt, expects: [200], isExport: true, hasSlot: true }, end);
    if (!result?.isWhole || result.status !== 200) return;
    tally.add("exports");
    tally.add("slow reads");
    const rows = countRows(result.body, "ndjson");
    const announced = Number(result.headers.get("x-export-total-rows"));
    if (rows !== announced) {
      findings.add("an export is not whole", `runs, read slowly: ${rows} rows of ${announced}`);
    }
  };
};

/** Downloads slowly. Returns null if the connection was refused, or lost before the head of the response. */
async function readSlowly(url: string, key: string, pauseMs: number): Promise<DownloadResult | null> {
  using download = await beginDownload(url, { authorization: `Bearer ${key}` });
  await delay(pauseMs);
  const result = await download.readOn().catch(() => null);
  if (result === null || result.headers.has("content-length")) return result;
  return { ...result, body: result.isWhole ? joinChunks(result.body) : result.body };
}

/** Decodes a body in chunked transfer coding (RFC 9112, section 7.1). */
function joinChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const end = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.subarray(at, end).toString("latin1"), 16);
    if (!(size > 0)) break;
    chunks.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(chunks);
}
