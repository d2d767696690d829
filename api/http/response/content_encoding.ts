/** Chooses the encoding of a response (RFC 9110, section 12.5.3), and encodes bytes or streams. */
import { Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { constants, createGzip, createZstdCompress, gzip, zstdCompress } from "node:zlib";
import { parseAcceptedValues } from "../accepted_values.ts";

/** In order of preference. zstd is faster at the same ratio. */
const ENCODINGS = ["zstd", "gzip"] as const;
export type ContentEncoding = (typeof ENCODINGS)[number];

/** The same level as for ZIP entries (shared/exports/zip_stream.ts). zstd's default is 3. */
const GZIP_LEVEL = 2;
const ZSTD_LEVEL = 3;
/** Chunk size of a compressed stream. */
const OUTPUT_CHUNK_BYTES = 128 * 1024;

/** Both functions run in a thread of the runtime and never block the event loop. */
const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

/**
 * Chooses the encoding from an Accept-Encoding header; null for none. `*` means gzip, because clients that send it may not
 * support zstd.
 */
export function chooseEncoding(acceptEncoding: string | null): ContentEncoding | null {
  const weights = new Map(parseAcceptedValues(acceptEncoding).map(({ value, weight }) => [value, weight]));
  let best: ContentEncoding | null = null;
  let bestWeight = 0;
  for (const encoding of ENCODINGS) {
    const unnamed = encoding === "gzip" ? weights.get("*") : 0;
    const weight = weights.get(encoding) ?? unnamed ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight];
  }
  return bestWeight < (weights.get("identity") ?? 0) ? null : best;
}

/** Compresses bytes that are in memory. */
export async function encode(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: ContentEncoding,
): Promise<Uint8Array<ArrayBuffer>> {
  if (encoding === "gzip") return gzipAsync(bytes, { level: GZIP_LEVEL });
  return zstdAsync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
}

/** Compresses `content`. Errors of `content` propagate, and an early return ends `content`. */
export async function* compress(
  content: AsyncGenerator<Uint8Array, void, void>,
  encoding: ContentEncoding,
): AsyncGenerator<Uint8Array, void, void> {
  const source = Readable.from(content, { objectMode: false, highWaterMark: 1 });
  const compressor = createCompressor(encoding);
  source.on("error", (error) => compressor.destroy(error));
  source.pipe(compressor);
  try {
    for await (const chunk of compressor) yield chunk;
  } finally {
    source.destroy();
    await content.return();
  }
}

function createCompressor(encoding: ContentEncoding): Transform {
  if (encoding === "gzip") return createGzip({ level: GZIP_LEVEL, chunkSize: OUTPUT_CHUNK_BYTES });
  return createZstdCompress({
    chunkSize: OUTPUT_CHUNK_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}

/**
 * Returns the ETag of an encoded response. A strong ETag identifies bytes, so each encoding has its own (RFC 9110, section
 * 8.8.3.3). The ETag does not depend on the body's length, so a 304 needs no body.
 */
export function encodedTag(etag: string, encoding: ContentEncoding | null): string {
  return encoding === null ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

/**
 * Returns true if `If-None-Match` contains the ETag for the encoding that the client accepts, or `*`. The comparison is weak
 * (RFC 9110, section 13.1.2): `W/"x"` matches `"x"`.
 */
export function isKnownTag(request: Request, etag: string): boolean {
  const condition = request.headers.get("if-none-match");
  if (condition === null) return false;
  const tags = condition.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  return tags.includes(encodedTag(etag, encoding)) || tags.includes("*");
}
