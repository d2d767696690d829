/** Counts and hashes a stream. */

export interface ContentDigest {
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** Passes `content` on unchanged; `onEnd` gets its length and SHA-256 at the end. */
export async function* digestContent(
  content: AsyncGenerator<Uint8Array, void, void>,
  onEnd: (digest: ContentDigest) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    hasher.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  onEnd({ bytes, sha256: hasher.digest("hex") });
}
