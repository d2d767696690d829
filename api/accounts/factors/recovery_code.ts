/** Generates and hashes recovery codes. Only the hashes are stored. */
import { randomBytes } from "node:crypto";
import { hashSecret } from "../../http/credentials.ts";

const CODES = 10;
/** 16 characters of 5 bits each. */
const CODE_BYTES = 10;
/** Crockford's base 32, in which no letter looks like a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Generates ten codes such as `k7qm-2p9x-w4td-r0ea`. */
export function mintRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const bits = BigInt(`0x${randomBytes(CODE_BYTES).toString("hex")}`);
    const letters = Array.from({ length: 16 }, (_, index) =>
      ALPHABET.charAt(Number((bits >> BigInt(index * 5)) & 31n)),
    );
    return [0, 4, 8, 12].map((start) => letters.slice(start, start + 4).join("")).join("-");
  });
}

/** Returns the SHA-256 of a code. Ignores case, spaces, hyphens and look-alike letters. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return hashSecret(plain);
}
