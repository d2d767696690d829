/** Compares TOTP codes with RFC 6238 and with a second implementation in test/helpers/. */
import { expect, test } from "bun:test";
import { findTotpStep, mintTotpSecret, toBase32, totpUri } from "../../../../api/accounts/factors/totp.ts";
import { codeOfStep, fromBase32 } from "../../../helpers/accounts/totp_code.ts";

/** Test vectors of RFC 6238, appendix B: SHA-1 with eight digits. Authenticator apps show the last six. */
const RFC_SECRET = Buffer.from("12345678901234567890");
const RFC_VECTORS = [
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
] as const;

test("findTotpStep() and the test helper codeOfStep() agree with the RFC 6238 test vectors", () => {
  for (const [seconds, code] of RFC_VECTORS) {
    const step = Math.floor(seconds / 30);
    expect(codeOfStep(RFC_SECRET, step, 8)).toBe(code);
    const given = { secret: RFC_SECRET, after: 0, now: seconds * 1000 };
    expect(findTotpStep(code.slice(2), given)).toBe(step);
  }
});

test("findTotpStep() accepts codes from a clock that is one step off, but not two", () => {
  const secret = mintTotpSecret();
  const now = 1_764_000_015_000;
  const step = Math.floor(now / 30_000);
  const found = [-2, -1, 0, 1, 2].map((skew) =>
    findTotpStep(codeOfStep(secret, step + skew), { secret, after: 0, now }),
  );
  expect(found).toEqual([null, step - 1, step, step + 1, null]);
});

test("findTotpStep() refuses codes for the last accepted step and for earlier steps", () => {
  const secret = mintTotpSecret();
  const now = 1_764_000_015_000;
  const step = Math.floor(now / 30_000);
  const found = [-1, 0, 1].map((skew) =>
    findTotpStep(codeOfStep(secret, step + skew), { secret, after: step, now }),
  );
  expect(found).toEqual([null, null, step + 1]);
});

test("findTotpStep() accepts only codes of exactly six ASCII digits", () => {
  const secret = mintTotpSecret();
  const now = 1_764_000_015_000;
  const code = codeOfStep(secret, Math.floor(now / 30_000));
  for (const wrong of ["", code.slice(1), `${code}0`, `${code} `, code.replace(/\d/, "x"), "١٢٣٤٥٦"]) {
    expect(findTotpStep(wrong, { secret, after: 0, now })).toBeNull();
  }
});

test("mintTotpSecret() returns unique 160-bit secrets, and totpUri() includes the secret", () => {
  const secret = mintTotpSecret();
  expect(secret).toHaveLength(20);
  expect(Buffer.from(mintTotpSecret()).equals(secret)).toBe(false);
  expect(fromBase32(toBase32(secret)).equals(secret)).toBe(true);
  const uri = new URL(totpUri(secret, { host: "ulr.example:8443", email: "you+me@example.com" }));
  expect(uri.protocol + uri.host).toBe("otpauth:totp");
  expect(decodeURIComponent(uri.pathname)).toBe("/ulr.example:8443:you+me@example.com");
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: "ulr.example:8443",
    secret: toBase32(secret),
    algorithm: "SHA1",
    digits: "6",
    period: "30",
  });
});
