/** The header `Repr-Digest` (RFC 9530). */
import { createHash } from "node:crypto";

/** Returns the value for bytes that are sent as they are, with their content coding. */
export function reprDigest(bytes: string | Uint8Array): string {
  return formatDigest(createHash("sha256").update(bytes).digest());
}

/** Returns the value for a SHA-256 that is known. */
export function formatDigest(sha256: Buffer): string {
  return `sha-256=:${sha256.toString("base64")}:`;
}
