/** Generates API keys and session tokens, and hashes them for storage. */
import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** The prefix of API keys. No other credential has it. */
export const KEY_PREFIX = "ulr_";
const SESSION_PREFIX = "uls_";
/** Length of the readable part of a key, which helps its owner to tell keys apart. */
const DISPLAY_LENGTH = 12;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** A 32-bit checksum in base 62. */
const CHECKSUM_LENGTH = 6;
/** 32 random bytes in base64url. */
const SECRET_LENGTH = 43;

interface MintedSecret {
  /** The secret itself: shown once, never stored or logged. */
  secret: string;
  /** SHA-256 of the secret. The database stores only this hash. */
  hash: Buffer;
}

/** Returns the SHA-256 of a secret. A fast hash is enough, because the secrets have 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function mint(prefix: string, { hasChecksum = false } = {}): MintedSecret {
  const random = randomBytes(32).toString("base64url");
  const secret = prefix + random + (hasChecksum ? checksumOf(random) : "");
  return { secret, hash: hashSecret(secret) };
}

/** Returns the CRC-32 of the text as six base62 characters, the most significant first. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/**
 * Generates an API key: `ulr_`, 43 characters of `[A-Za-z0-9_-]`, and their CRC-32 as six base62 characters. With the checksum,
 * secret scanners recognize keys offline. `prefix` is the start of the key, which is kept for display.
 */
export function mintApiKey(): MintedSecret & { prefix: string } {
  const minted = mint(KEY_PREFIX, { hasChecksum: true });
  return { ...minted, prefix: minted.secret.slice(0, DISPLAY_LENGTH) };
}

/**
 * Returns false if the checksum of a key is wrong. Keys of another length predate checksums and can be checked only in the
 * database, so they return true.
 */
export function hasValidChecksum(key: string): boolean {
  const body = key.slice(KEY_PREFIX.length);
  if (body.length !== SECRET_LENGTH + CHECKSUM_LENGTH) return true;
  return body.slice(SECRET_LENGTH) === checksumOf(body.slice(0, SECRET_LENGTH));
}

/** A key or session token from a request, hashed for the lookup. */
export interface SentCredential {
  isKey: boolean;
  hash: Buffer;
}

/** Generates a session token: `uls_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintSessionToken(): MintedSecret {
  return mint(SESSION_PREFIX);
}

/** Generates the token of a sign-in that has passed the password step: `ull_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintLoginToken(): MintedSecret {
  return mint("ull_");
}
