/** JSON that is made once and sent many times: its bytes, and what stands for them in an entity tag. */
import { createHash } from "node:crypto";

export interface JsonText {
  /** UTF-8. */
  bytes: Uint8Array;
  /** Of the bytes: SHA-256 in base64url, always of the same length. */
  digest: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function jsonText(text: string): JsonText {
  const bytes = encoder.encode(text);
  return { bytes, digest: createHash("sha256").update(bytes).digest("base64url") };
}

export function decodeJson({ bytes }: JsonText): string {
  return decoder.decode(bytes);
}
