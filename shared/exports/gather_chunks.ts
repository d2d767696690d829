/** Combines small chunks of a file, because passing on each chunk takes time. */

const CHUNK_BYTES = 256 * 1024;

/** Yields the same bytes in chunks of at least 256 KiB, except the last chunk. Larger chunks are not copied. */
export async function* gatherChunks(
  content: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    gathered.push(chunk);
    bytes += chunk.length;
    if (bytes < CHUNK_BYTES) continue;
    yield gathered.length === 1 ? chunk : Buffer.concat(gathered, bytes);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}
