import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { hashSecret, hasValidChecksum, mintApiKey } from "../../../api/http/credentials.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("mintApiKey() ends a key with the CRC-32 of its secret in six base62 digits", () => {
  for (let made = 0; made < 200; made += 1) {
    const { secret, prefix, hash } = mintApiKey();
    const [, random = "", checksum = ""] = /^ulr_([A-Za-z0-9_-]{43})([A-Za-z0-9]{6})$/.exec(secret) ?? [];
    const value = [...checksum].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);
    expect(value).toBe(crc32(random));
    expect(hasValidChecksum(secret)).toBe(true);
    expect([prefix, hash]).toEqual([secret.slice(0, 12), hashSecret(secret)]);
  }
});

test("hasValidChecksum() refuses a key with any changed character and accepts older keys", () => {
  const { secret } = mintApiKey();
  for (let at = 4; at < secret.length; at += 1) {
    const other = secret[at] === "x" ? "y" : "x";
    expect(hasValidChecksum(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false);
  }
  for (const length of [32, 43, 48, 50, 128])
    expect(hasValidChecksum(`ulr_${"x".repeat(length)}`)).toBe(true);
});
