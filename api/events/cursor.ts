/**
 * Cursors of events: a position, encrypted, so that a cursor does not tell how many events others have. The key is the
 * database's, so a cursor of another database is invalid.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";

/** One block: eight zero bytes, which prove that the cursor is ours, and the position. */
const CIPHER = "aes-128-ecb";
const BLOCK_BYTES = 16;

/** `key` has 16 bytes. */
export function encodeCursor(key: Uint8Array, position: number): string {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.writeBigUInt64BE(BigInt(position), 8);
  return createCipheriv(CIPHER, key, null).setAutoPadding(false).update(block).toString("base64url");
}

/** Returns the position; null for a text that no response had. */
export function decodeCursor(key: Uint8Array, cursor: string): number | null {
  const encrypted = Buffer.from(cursor, "base64url");
  if (encrypted.byteLength !== BLOCK_BYTES || encrypted.toString("base64url") !== cursor) return null;
  const block = createDecipheriv(CIPHER, key, null).setAutoPadding(false).update(encrypted);
  const position = Number(block.readBigUInt64BE(8));
  return block.readBigUInt64BE(0) === 0n && Number.isSafeInteger(position) ? position : null;
}
