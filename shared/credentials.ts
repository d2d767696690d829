/** API keys and session tokens: how they are made, and the only form in which they are stored. */
import { createHash, randomBytes } from "node:crypto";

const KEY_PREFIX = "ulr_";
const SESSION_PREFIX = "uls_";
/** Characters of a key that are kept readable, so that its owner can tell keys apart. */
const DISPLAY_LENGTH = 12;

export interface MintedSecret {
  /** The secret itself: shown once, never stored or logged. */
  secret: string;
  /** SHA-256 of the secret: what the database keeps. */
  hash: Buffer;
}

export interface MintedKey extends MintedSecret {
  /** The first characters of the key, kept for display. */
  prefix: string;
}

/** SHA-256 of a secret. A fast hash is enough: the secrets have 256 bits of their own. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function mint(prefix: string): MintedSecret {
  const secret = `${prefix}${randomBytes(32).toString("base64url")}`;
  return { secret, hash: hashSecret(secret) };
}

/** Makes an API key: `ulr_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintApiKey(): MintedKey {
  const minted = mint(KEY_PREFIX);
  return { ...minted, prefix: minted.secret.slice(0, DISPLAY_LENGTH) };
}

/** Makes a session token: `uls_` and 43 characters of `[A-Za-z0-9_-]`. */
export function mintSessionToken(): MintedSecret {
  return mint(SESSION_PREFIX);
}

/** True for text that has the form of an API key; anything else can only be a session token. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX);
}
