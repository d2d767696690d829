/** Compresses a stream of text in the encoding that the client prefers. */
import { Readable, type Transform } from "node:stream";
import { constants, createGzip, createZstdCompress } from "node:zlib";

/** In the order of our preference where the client has none: zstd is the faster at the same ratio. */
const ENCODINGS = ["zstd", "gzip"] as const;
export type ContentEncoding = (typeof ENCODINGS)[number];

/** Level 3 is zstd's own default; level 2 of gzip for the reasons in shared/deflate_stream.ts. */
const GZIP_LEVEL = 2;
const ZSTD_LEVEL = 3;
const OUTPUT_CHUNK_BYTES = 128 * 1024;

/** The encoding to answer with (RFC 9110, Accept-Encoding); `null` for none. */
export function chooseEncoding(acceptEncoding: string | null): ContentEncoding | null {
  const weights = new Map<string, number>();
  for (const item of (acceptEncoding ?? "").split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(coding, weight === undefined ? 1 : Number(weight));
  }
  let best: ContentEncoding | null = null;
  let bestWeight = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get("*") ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight];
  }
  return bestWeight < (weights.get("identity") ?? 0) ? null : best;
}

function createCompressor(encoding: ContentEncoding): Transform {
  if (encoding === "gzip") return createGzip({ level: GZIP_LEVEL, chunkSize: OUTPUT_CHUNK_BYTES });
  return createZstdCompress({
    chunkSize: OUTPUT_CHUNK_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}

/** Yields `content` compressed. An error of `content` comes out of it; returning early returns `content`. */
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
