/** POST /auth/factors/verify: verifies a second factor, for requests that require a recent one. */
import { data, Instant, Nullable, requestBody } from "../../../shared/schemas.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import {
  deleteChallenge,
  lockSessionChallenge,
  upsertSessionChallenge,
} from "../../../sql/accounts/factor_challenges.ts";
import { existsSecondFactor, lockPasskeys } from "../../../sql/accounts/second_factors.ts";
import { updateSessionFactorAt } from "../../../sql/accounts/sessions.ts";
import { findUser } from "../../../sql/accounts/users.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { lockCaller, noFactor } from "../require_proof.ts";
import { OWN_ACCOUNT } from "../schemas.ts";
import { checkProof, PROOF_FIELDS, parseProof, proofError } from "./check_proof.ts";
import { PASSKEY_MAX_BYTES, WebAuthnJson } from "./factor_schemas.ts";
import { passkeyRequest } from "./passkeys.ts";

export const beginVerification = operation(
  {
    ...OWN_ACCOUNT,
    id: "beginVerification",
    method: "POST",
    path: "/api/v1/auth/factors/verify/options",
    summary: "Start using a passkey",
    description:
      "Returns the options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. They work once, for 5 minutes, in the same " +
      "session.",
    response: { 200: data({ options: WebAuthnJson, expiresAt: Instant() }, "The options") },
    reads: true,
    secret: true,
    fails: ["UNPROCESSABLE_ENTITY"],
  },
  async ({ caller, request }, deps) => {
    const { userId, credential } = caller;
    const begun = await deps.writeAccountInTurn(request, async (tx) => {
      // Locks the account first, as a verification does, to avoid a deadlock.
      await lockCaller(tx, caller);
      const { options, challengeHash } = await passkeyRequest(deps.config, await lockPasskeys(tx, userId));
      const challenge = { userId, sessionId: credential.id, purpose: "verify", challengeHash } as const;
      return { options, expiresAt: await upsertSessionChallenge(tx, challenge) };
    });
    return reply(200, { data: begun });
  },
);

export const verifyFactor = operation(
  {
    ...OWN_ACCOUNT,
    id: "verifyFactor",
    method: "POST",
    path: "/api/v1/auth/factors/verify",
    summary: "Use a second factor",
    description:
      "Some requests require a second factor used within 15 minutes. A wrong code returns 401 and counts as a sign-in attempt. " +
      "After 20 wrong codes within a day, codes from apps are not accepted until the day is over.",
    maxBodyBytes: PASSKEY_MAX_BYTES,
    body: requestBody("SecondFactorProof", PROOF_FIELDS, { code: "287082" }),
    response: { 200: data({ provenAt: Nullable(Instant()) }, "The session is proven") },
    secret: true,
    fails: ["RATE_LIMITED", "UNPROCESSABLE_ENTITY"],
  },
  async ({ caller, request, body }, deps) => {
    const { sql } = deps;
    const proof = parseProof(body);
    const { userId, credential } = caller;
    const account = await findUser(sql, userId);
    if (!account) throw unauthorized();
    if (!(await existsSecondFactor(sql, userId))) throw noFactor();
    await deps.signIn.limit.take(requestContext(request), account.email, credential);
    const { verdict, provenAt } = await deps.writeAccountInTurn(request, async (tx) => {
      const user = await lockCaller(tx, caller);
      const key = { sessionId: credential.id, purpose: "verify" } as const;
      const challenge = "passkey" in proof ? await lockSessionChallenge(tx, key) : null;
      if (challenge) await deleteChallenge(tx, challenge.id);
      const challengeHash = challenge?.challengeHash ?? null;
      const verdict = await checkProof(tx, deps, { user, proof, challengeHash, request });
      if (!verdict.ok) return { verdict, provenAt: null };
      const provenAt = await updateSessionFactorAt(tx, { id: credential.id, isProven: true });
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "factor.use",
        subject: { type: "session", id: credential.id },
        details: { kind: verdict.kind },
      });
      return { verdict, provenAt };
    });
    if (!verdict.ok) {
      deps.signIn.auditFailure(requestContext(request), userId);
      throw proofError(verdict);
    }
    deps.callers.forget(credential.id);
    return reply(200, { data: { provenAt } });
  },
);
