/** Responds with a list of models as a CSV file that is generated while it is sent. */
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/exports/file_names.ts";
import type { ModelRow } from "../../sql/models/models.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { compress } from "../http/response/compress_stream.ts";
import { chooseEncoding, encodedTag } from "../http/response/content_encoding.ts";
import { isKnownTag } from "../http/response/etag.ts";
import { countBytes, responseStream } from "../http/response/stream.ts";
import { STREAM_RULES } from "../http/response/stream_cutoff.ts";
import { type Permit, Semaphore } from "../http/semaphore.ts";
import { cacheControl } from "./conditional_response.ts";
import { streamModelsCsv } from "./list_csv.ts";

/** Concurrent downloads per process and per caller: each may hold a compressor of some megabytes. */
const LIMITS = { max: 16, perHolder: 4, perGroup: 16 };
const RETRY_SECONDS = 5;
const RULES = { ...STREAM_RULES, maxMs: 10 * 60_000 };

const FILE_HEADERS = {
  "Content-Type": "text/csv; charset=utf-8; header=present",
  "Content-Disposition": contentDisposition({ ascii: "models.csv", full: "models.csv" }),
};

/** Responds with the file, or with 304 if the client has it. */
export type RespondCsv = (request: Request, etag: string, select: () => readonly ModelRow[]) => Response;

/** Creates the responder of one process, which limits concurrent downloads. */
export function createRespondCsv(): RespondCsv {
  const slots = new Semaphore(LIMITS);
  return (request, etag, select) => {
    const validators = { "Cache-Control": cacheControl(request), Vary: "Accept-Encoding" };
    if (isKnownTag(request, etag)) {
      return new Response(null, { status: 304, headers: { ...validators, ETag: etag } });
    }
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    const permit = takeSlot(slots, request);
    const lines = streamModelsCsv(select());
    const endStream = announceStream(request);
    let bytes = 0;
    const chunks = countBytes(encoding ? compress(lines, encoding) : lines, (length) => {
      bytes += length;
    });
    const body = responseStream(chunks, {
      abort: new AbortController(),
      // The catalog is public, so access never ends.
      watch: { rules: RULES, permit, mayContinue: async () => true },
      connection: requestContext(request).connection,
      onSourceEnd: async () => permit.release(),
      onEnd: (end) => endStream({ ...end, bytes }),
    });
    return new Response(body, {
      headers: {
        ...FILE_HEADERS,
        ...validators,
        ...(encoding ? { "Content-Encoding": encoding } : {}),
        ETag: encodedTag(etag, encoding),
      },
    });
  };
}

function takeSlot(slots: Semaphore, request: Request): Permit {
  const { caller, network } = requestContext(request);
  const result = slots.take({ holder: caller?.userId ?? network, group: null });
  if (result.ok) return result.permit;
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  if (result.shortage === "holder") {
    const message = `You are downloading ${LIMITS.perHolder} lists of models, the most at once. Wait until one ends, then retry.`;
    throw new ApiError("RATE_LIMITED", { message, headers });
  }
  const message = `This server is sending ${LIMITS.max} lists of models, the most at once. Retry in ${RETRY_SECONDS} seconds.`;
  throw new ApiError("SERVICE_UNAVAILABLE", { message, headers });
}
