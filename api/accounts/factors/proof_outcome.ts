/** What follows from a second factor that was used: mails, and the error for the client. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { countRecoveryCodes } from "../../../sql/accounts/recovery_codes.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { unauthorized } from "../../http/authenticate.ts";
import type { ProofVerdict } from "./check_proof.ts";
import { type MailDeps, queueFactorMail } from "./factor_mail.ts";

/** Mails the user that a recovery code was used, or that someone guesses codes or uses a copy of a passkey. */
export async function tellOfProof(
  tx: Sql,
  deps: MailDeps,
  { userId, request, verdict }: { userId: string; request: Request; verdict: ProofVerdict },
): Promise<void> {
  if (verdict.ok && verdict.kind === "recovery_code") {
    const codesLeft = await countRecoveryCodes(tx, userId);
    await queueFactorMail(tx, deps, { userId, request, details: { event: "code_used", codesLeft } });
  }
  if (!verdict.ok && (verdict.reason === "guessed" || verdict.reason === "copied")) {
    await queueFactorMail(tx, deps, { userId, request, details: { event: verdict.reason } });
  }
}

/** Returns the error for a second factor that was not accepted. A copied passkey gets the same as any wrong one. */
export function proofError(verdict: Extract<ProofVerdict, { ok: false }>): ApiError {
  if (verdict.reason !== "blocked") {
    return unauthorized(TEXTS.UNAUTHORIZED.factor);
  }
  return new ApiError("RATE_LIMITED", {
    message: TEXTS.RATE_LIMITED.factors,
    headers: { "Retry-After": String(Math.max(1, Math.ceil(verdict.waitMs / 1000))) },
  });
}
