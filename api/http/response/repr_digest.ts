/** Formats the header `Repr-Digest` (RFC 9530). */
import { createHash } from "node:crypto";

/** Returns the header's value for the bytes of a body as it is sent, with its content coding. */
export function reprDigest(bytes: string | Uint8Array): string {
  return formatDigest(createHash("sha256").update(bytes).digest());
}

/** Returns the header's value for a known SHA-256. */
export function formatDigest(sha256: Buffer): string {
  return `sha-256=:${sha256.toString("base64")}:`;
}
