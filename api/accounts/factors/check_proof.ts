/** Checks a user's second factor: a code from an authenticator app, a passkey or a recovery code. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { ProofKind } from "../../../shared/vocabulary.ts";
import {
  countRecoveryCodes,
  countWrongCode,
  lockPasskeys,
  lockTotpFactors,
  markRecoveryCodeUsed,
  updatePasskeyUse,
  updateTotpLastStep,
} from "../../../sql/accounts/second_factors.ts";
import type { UserRow } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { unauthorized } from "../../http/authenticate.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { queueFactorMail } from "./change_factors.ts";
import { PasskeyText } from "./factor_schemas.ts";
import { checkPasskey } from "./passkeys.ts";
import { hashRecoveryCode } from "./recovery_code.ts";
import { findTotpStep } from "./totp.ts";

/**
 * Wrong app codes per user and day, from all networks together. Three of a million codes are valid at any time. Someone who
 * knows the password and guesses for a year therefore finds one with a probability of 2 %. The limit does not block passkeys and
 * recovery codes.
 */
const WRONG_CODES_MAX = 20;

/** A user's proof: an app code, a recovery code, or the response of a passkey as JSON. */
export type Proof = { code: string } | { passkey: string };

export const PROOF_FIELDS = {
  code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Six digits from an authenticator app, or a recovery code",
    }),
  ),
  passkey: Type.Optional(PasskeyText),
};

/** Returns the proof in a request body. Throws VALIDATION_ERROR unless the body has exactly one. */
export function parseProof({ code, passkey }: { code?: string; passkey?: string }): Proof {
  if (code !== undefined && passkey === undefined) return { code };
  if (passkey !== undefined && code === undefined) return { passkey };
  throw invalidField("code", "or passkey is required, and not both");
}

export type ProofVerdict =
  | { ok: true; kind: ProofKind }
  /** `copied`: the passkey was copied. `guessed`: this wrong code reached the daily limit. */
  | { ok: false; reason: "wrong" | "copied" | "guessed" }
  /** App codes are rejected for `waitMs`. */
  | { ok: false; reason: "blocked"; waitMs: number };

interface ProofCheck {
  user: UserRow;
  proof: Proof;
  /** Hash of the challenge that the passkey had to sign; null if there is no challenge. */
  challengeHash: Uint8Array | null;
  request: Request;
}

/**
 * Checks a proof. A proof works once. Mails the user after the use of a recovery code or a copied passkey, and when wrong codes
 * reach the limit. Call it in a transaction that holds the user's lock. Commit even if the proof is wrong, because wrong codes
 * are counted.
 */
export async function checkProof(
  tx: Sql,
  deps: Pick<OperationDeps, "boss" | "config" | "now">,
  check: ProofCheck,
): Promise<ProofVerdict> {
  const { user, request } = check;
  const verdict = await verifyProof(tx, deps, check);
  if (verdict.ok && verdict.kind === "recovery_code") {
    const codesLeft = await countRecoveryCodes(tx, user.id);
    await queueFactorMail(tx, deps, { user, request, details: { event: "code_used", codesLeft } });
  }
  if (!verdict.ok && (verdict.reason === "guessed" || verdict.reason === "copied")) {
    await queueFactorMail(tx, deps, { user, request, details: { event: verdict.reason } });
  }
  return verdict;
}

async function verifyProof(
  tx: Sql,
  { config, now }: Pick<OperationDeps, "config" | "now">,
  { user: { id: userId }, proof, challengeHash }: ProofCheck,
): Promise<ProofVerdict> {
  if ("passkey" in proof) {
    if (challengeHash === null) return { ok: false, reason: "wrong" };
    const passkeys = await lockPasskeys(tx, userId);
    const verdict = await checkPasskey(config, { response: proof.passkey, challengeHash, passkeys });
    if (verdict.result !== "right") return { ok: false, reason: verdict.result };
    await updatePasskeyUse(tx, verdict);
    return { ok: true, kind: "passkey" };
  }
  const digits = proof.code.replaceAll(/[\s-]/g, "");
  if (/^\d{6}$/.test(digits)) return checkTotpCode(tx, { userId, code: digits, now });
  const isRight = await markRecoveryCodeUsed(tx, { userId, hash: hashRecoveryCode(proof.code) });
  return isRight ? { ok: true, kind: "recovery_code" } : { ok: false, reason: "wrong" };
}

async function checkTotpCode(
  tx: Sql,
  { userId, code, now }: { userId: string; code: string; now: OperationDeps["now"] },
): Promise<ProofVerdict> {
  const factors = await lockTotpFactors(tx, userId);
  const blocked = factors.filter(({ wrongCodes }) => wrongCodes >= WRONG_CODES_MAX);
  if (blocked.length > 0) {
    return { ok: false, reason: "blocked", waitMs: Math.max(...blocked.map(({ waitMs }) => waitMs)) };
  }
  for (const { id, secret, lastStep, nowMs } of factors) {
    const step = findTotpStep(code, { secret, after: lastStep, now: now?.() ?? nowMs });
    if (step === null) continue;
    await updateTotpLastStep(tx, { id, lastStep: step });
    return { ok: true, kind: "totp" };
  }
  const wrongCodes = await countWrongCode(tx, userId);
  return { ok: false, reason: wrongCodes === WRONG_CODES_MAX ? "guessed" : "wrong" };
}

/** Returns the error for a rejected second factor. A copied passkey gets the same error as a wrong one. */
export function proofError(verdict: Extract<ProofVerdict, { ok: false }>): ApiError {
  if (verdict.reason !== "blocked") return unauthorized(TEXTS.UNAUTHORIZED.factor);
  return new ApiError("RATE_LIMITED", {
    message: TEXTS.RATE_LIMITED.factors,
    headers: { "Retry-After": String(Math.max(1, Math.ceil(verdict.waitMs / 1000))) },
  });
}
