import { expect, test } from "bun:test";
import { hashRecoveryCode, mintRecoveryCodes } from "../../../../api/accounts/factors/recovery_code.ts";

test("mintRecoveryCodes() returns ten codes with 80 random bits each", () => {
  const codes = [mintRecoveryCodes(), mintRecoveryCodes()].flat();
  expect(new Set(codes).size).toBe(20);
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  expect(new Set(codes.join("").replaceAll("-", "")).size).toBe(32);
});

test("hashRecoveryCode() ignores case, separators and lookalike characters", () => {
  const hash = hashRecoveryCode("k7qm-2p9x-0141-r0ea");
  for (const typed of [
    "K7QM-2P9X-0141-R0EA",
    " k7qm 2p9x 0141 r0ea\n",
    "k7qm2p9x0141r0ea",
    "k7qm-2p9x-oI4l-rOea",
  ]) {
    expect(hashRecoveryCode(typed).equals(hash)).toBe(true);
  }
  expect(hashRecoveryCode("k7qm-2p9x-0141-r0eb").equals(hash)).toBe(false);
});
