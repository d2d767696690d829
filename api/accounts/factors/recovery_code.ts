/** Recovery codes: how they are made and read, and the only form in which they are stored. */
import { randomBytes } from "node:crypto";
import { hashSecret } from "../../http/credentials.ts";

const CODES = 10;
/** 16 characters of 5 bits. */
const CODE_BYTES = 10;
/** Crockford's base 32: no letter looks like a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Makes ten codes such as `k7qm-2p9x-w4td-r0ea`. */
export function mintRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const bits = BigInt(`0x${randomBytes(CODE_BYTES).toString("hex")}`);
    const letters = Array.from({ length: 16 }, (_, index) =>
      ALPHABET.charAt(Number((bits >> BigInt(index * 5)) & 31n)),
    );
    return [0, 4, 8, 12].map((start) => letters.slice(start, start + 4).join("")).join("-");
  });
}

/** Returns the SHA-256 of a code, however it was typed. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return hashSecret(plain);
}
