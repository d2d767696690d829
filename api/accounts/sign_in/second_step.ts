/** POST /auth/login/second-factor and /options: the second step of a sign-in, after the password. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { data, requestBody } from "../../../shared/schemas.ts";
import type { ProofKind } from "../../../shared/vocabulary.ts";
import {
  countWrongTry,
  deleteChallenge,
  findPendingUser,
  insertPendingSignIn,
  lockPendingSignIn,
  type PendingUser,
  updateChallengeHash,
} from "../../../sql/accounts/factor_challenges.ts";
import { countRecoveryCodes, listSecondFactors, lockPasskeys } from "../../../sql/accounts/second_factors.ts";
import { lockActiveUser, type UserWithPassword } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { deleteOldRows, OLD_ROWS } from "../../../sql/delete_old_rows.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { hashSecret, mintLoginToken } from "../../http/credentials.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { checkProof, PROOF_FIELDS, parseProof, proofError } from "../factors/check_proof.ts";
import { PASSKEY_MAX_BYTES, WebAuthnJson } from "../factors/factor_schemas.ts";
import { passkeyRequest } from "../factors/passkeys.ts";
import { SIGNED_OUT } from "../schemas.ts";
import { finishSignIn, SignedIn, signedInReply } from "./finish_sign_in.ts";

const MINUTES = 5;
/** Wrong second factors per login token. */
const TRIES_MAX = 5;
/** Expired rows that each sign-in deletes. A sign-in adds fewer. */
const CLEANUP_ROWS = 10;

/**
 * Throws SECOND_FACTOR_REQUIRED with a token for the second step if the user has a second factor. The right password alone
 * resets no limit.
 */
export async function requireSecondStep(sql: Sql, user: UserWithPassword): Promise<void> {
  const factors = await listSecondFactors(sql, user.id);
  if (factors.length === 0) return;
  await deleteOldRows(sql, { ...OLD_ROWS.factorChallenges, limit: CLEANUP_ROWS });
  const { secret: loginToken, hash: tokenHash } = mintLoginToken();
  const { id: userId, passwordHash } = user;
  const expiresAt = await insertPendingSignIn(sql, { userId, tokenHash, passwordHash, minutes: MINUTES });
  const methods = new Set<ProofKind>(factors.map(({ kind }) => kind));
  if ((await countRecoveryCodes(sql, userId)) > 0) methods.add("recovery_code");
  throw new ApiError("SECOND_FACTOR_REQUIRED", {
    message: TEXTS.SECOND_FACTOR_REQUIRED.signIn,
    details: { loginToken, methods: [...methods], expiresAt },
    headers: { "Cache-Control": "no-store" },
  });
}

const EXAMPLE_TOKEN = "ull_Q2hhbmdlIG1lIGJlZm9yZSB5b3UgdXNlIG1lLCBwbHM";

const LoginToken = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "From the details of SECOND_FACTOR_REQUIRED",
  examples: [EXAMPLE_TOKEN],
});

export const beginSecondStep = operation(
  {
    ...SIGNED_OUT,
    id: "beginSecondStep",
    path: "/api/v1/auth/login/second-factor/options",
    summary: "Start signing in with a passkey",
    description:
      "Returns the options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. They work once, until the login token " +
      "expires.",
    body: requestBody("SecondStepStart", { loginToken: LoginToken }, { loginToken: EXAMPLE_TOKEN }),
    response: { 200: data({ options: WebAuthnJson }, "The options") },
    reads: true,
    fails: ["UNPROCESSABLE_ENTITY"],
  },
  async ({ body, request }, deps) => {
    const { id: userId, challengeId: id } = await requirePendingUser(deps.sql, body.loginToken);
    const options = await deps.writeAccountInTurn(request, async (tx) => {
      // Locks the sign-in first, as the second step does, to avoid a deadlock.
      if (!(await lockPendingSignIn(tx, id))) throw signInExpired();
      const { options, challengeHash } = await passkeyRequest(deps.config, await lockPasskeys(tx, userId));
      await updateChallengeHash(tx, { id, challengeHash });
      return options;
    });
    return reply(200, { data: { options } });
  },
);

export const signInWithSecondFactor = operation(
  {
    ...SIGNED_OUT,
    id: "signInWithSecondFactor",
    path: "/api/v1/auth/login/second-factor",
    summary: "Sign in with a second factor",
    description:
      "Takes the login token of the first step with a code or a passkey response. The token allows 5 tries within 5 minutes. " +
      "Counts as a sign-in attempt. A code works once. After 20 wrong codes within a day, from any network, codes from apps " +
      "are not accepted until the day is over.",
    maxBodyBytes: PASSKEY_MAX_BYTES,
    body: requestBody(
      "SecondStep",
      { loginToken: LoginToken, ...PROOF_FIELDS },
      { loginToken: EXAMPLE_TOKEN, code: "287082" },
    ),
    response: { 200: SignedIn },
    fails: ["RATE_LIMITED"],
  },
  async ({ body, request }, deps) => {
    const proof = parseProof(body);
    const context = requestContext(request);
    const user = await requirePendingUser(deps.sql, body.loginToken);
    await deps.signIn.limit.takeOfNetwork(context);
    // The verdict is null if the sign-in has been used, has expired, or has become invalid.
    const { session, verdict } = await deps.writeAccountInTurn(request, async (tx) => {
      const { challengeId: id, passwordHash } = user;
      const current = await lockActiveUser(tx, { id: user.id, passwordHash });
      const challenge = current && (await lockPendingSignIn(tx, id));
      if (!challenge) return { session: null, verdict: null };
      const { challengeHash } = challenge;
      const verdict = await checkProof(tx, deps, { user: current, proof, challengeHash, request });
      if (verdict.ok) {
        await deleteChallenge(tx, id);
        const session = await finishSignIn(tx, deps, { user, request, secondFactor: verdict.kind });
        return { session, verdict };
      }
      // A passkey's challenge works once.
      if ("passkey" in proof) await updateChallengeHash(tx, { id, challengeHash: null });
      await countWrongTry(tx, { id, limit: TRIES_MAX });
      return { session: null, verdict };
    });
    deps.metrics.signIns.inc({ result: session ? "succeeded" : "failed" });
    if (session) return signedInReply(deps.config, { session, user });
    deps.signIn.auditFailure(context, user.id);
    throw verdict && !verdict.ok ? proofError(verdict) : signInExpired();
  },
);

async function requirePendingUser(sql: Sql, loginToken: string): Promise<PendingUser> {
  const user = await findPendingUser(sql, hashSecret(loginToken));
  if (!user) throw signInExpired();
  return user;
}

function signInExpired(): ApiError {
  return unauthorized(TEXTS.UNAUTHORIZED.signInOver);
}
