/** API keys and session tokens: how they are made, and the only form in which they are stored. */
import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Only API keys begin with it. */
export const KEY_PREFIX = "ulr_";
const SESSION_PREFIX = "uls_";
/** Characters of a key that are kept readable, so that its owner can tell keys apart. */
const DISPLAY_LENGTH = 12;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 bits in base 62. */
const CHECKSUM_LENGTH = 6;
/** 32 random bytes in base64url. */
const SECRET_LENGTH = 43;

interface MintedSecret {
  /** The secret itself: shown once, never stored or logged. */
  secret: string;
  /** SHA-256 of the secret. The database stores only this hash. */
  hash: Buffer;
}

/** SHA-256 of a secret. A fast hash is enough: the secrets have 256 bits of their own. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function mint(prefix: string, { hasChecksum = false } = {}): MintedSecret {
  const random = randomBytes(32).toString("base64url");
  const secret = prefix + random + (hasChecksum ? checksumOf(random) : "");
  return { secret, hash: hashSecret(secret) };
}

/** CRC-32 of the text as six base62 characters, the most significant first. */
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
 * Makes an API key: `ulr_`, 43 characters of `[A-Za-z0-9_-]`, and the CRC-32 of these 43 as six base62 characters, so
 * that secret scanners recognize keys without asking. `prefix` has its first characters, which are kept for display.
 */
export function mintApiKey(): MintedSecret & { prefix: string } {
  const minted = mint(KEY_PREFIX, { hasChecksum: true });
  return { ...minted, prefix: minted.secret.slice(0, DISPLAY_LENGTH) };
}

/**
 * False for a key that cannot be one of ours because its checksum is wrong. Keys of a different length than those of
 * `mintApiKey` were made before there were checksums: only the database can check them.
 */
export function hasValidChecksum(key: string): boolean {
  const body = key.slice(KEY_PREFIX.length);
  if (body.length !== SECRET_LENGTH + CHECKSUM_LENGTH) return true;
  return body.slice(SECRET_LENGTH) === checksumOf(body.slice(0, SECRET_LENGTH));
}

/** A key or token sent by a request, in the form that it is looked up by. */
export interface SentCredential {
  isKey: boolean;
  hash: Buffer;
}

/** Makes a session token: `uls_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintSessionToken(): MintedSecret {
  return mint(SESSION_PREFIX);
}

/** Makes the token of a sign-in whose password was right: `ull_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintLoginToken(): MintedSecret {
  return mint("ull_");
}
