/** TOTP codes of authenticator apps (RFC 6238). Every app supports these parameters: SHA-1, six digits and 30 s. */
import { Secret, TOTP } from "otpauth";

/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Accepted time steps before and after the current one, because clocks differ and typing takes time. */
const WINDOW = 1;
const TOTP_FORM = { algorithm: "SHA1", digits: 6, period: PERIOD_SECONDS } as const;

/** Generates the secret for an authenticator app. */
export function mintTotpSecret(): Uint8Array {
  return new Secret({ size: SECRET_BYTES }).bytes;
}

/** Returns the secret in base 32, which people can type into an app. */
export function toBase32(secret: Uint8Array): string {
  return toSecret(secret).base32;
}

/** Returns the `otpauth:` URI for a QR code. */
export function totpUri(secret: Uint8Array, { host, email }: { host: string; email: string }): string {
  return new TOTP({ ...TOTP_FORM, issuer: host, label: email, secret: toSecret(secret) }).toString();
}

/**
 * Returns the time step of a six-digit code. Returns null if the code is wrong or its step is not later than `after`, so that a
 * code works once. Takes the same time for every wrong code.
 */
export function findTotpStep(
  code: string,
  { secret, after, now }: { secret: Uint8Array; after: number; now: number },
): number | null {
  const delta = TOTP.validate({
    ...TOTP_FORM,
    ...{ token: code, secret: toSecret(secret), timestamp: now, window: WINDOW },
  });
  if (delta === null) return null;
  const step = TOTP.counter({ period: PERIOD_SECONDS, timestamp: now }) + delta;
  return step > after ? step : null;
}

function toSecret(bytes: Uint8Array): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
