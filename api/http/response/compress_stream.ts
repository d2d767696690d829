/** Compresses a stream of text in the encoding that the client prefers. */
import { Readable, type Transform } from "node:stream";
import { constants, createGzip, createZstdCompress } from "node:zlib";
import { type ContentEncoding, GZIP_LEVEL, ZSTD_LEVEL } from "./content_encoding.ts";

const OUTPUT_CHUNK_BYTES = 128 * 1024;

function createCompressor(encoding: ContentEncoding): Transform {
  if (encoding === "gzip") return createGzip({ level: GZIP_LEVEL, chunkSize: OUTPUT_CHUNK_BYTES });
  return createZstdCompress({
    chunkSize: OUTPUT_CHUNK_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}

/** Yields `content` compressed. Passes on errors of `content`; returning early returns `content`. */
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
