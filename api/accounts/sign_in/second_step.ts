/** POST /auth/login/second-factor and /options: the second step of a sign-in whose password was right. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { data, requestBody } from "../../../shared/schemas.ts";
import {
  countWrongTry,
  deleteChallenge,
  findPendingSignIn,
  insertPendingSignIn,
  lockPendingSignIn,
  type PendingSignIn,
  updateChallengeHash,
} from "../../../sql/accounts/factor_challenges.ts";
import { listSecondFactors, lockPasskeys } from "../../../sql/accounts/second_factors.ts";
import { lockActiveUser, type UserWithPassword } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { deleteOldRows, OLD_ROWS } from "../../../sql/delete_old_rows.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { hashSecret, mintLoginToken } from "../../http/credentials.ts";
import { type OperationDeps, operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import {
  checkProof,
  listProofKinds,
  mailProofOutcome,
  PROOF_FIELDS,
  type Proof,
  type ProofVerdict,
  parseProof,
  proofError,
} from "../factors/check_proof.ts";
import { PASSKEY_MAX_BYTES, WebAuthnJson } from "../factors/factor_schemas.ts";
import { passkeyRequest } from "../factors/passkeys.ts";
import { noPasskey } from "../require_proof.ts";
import { SIGNED_OUT } from "../schemas.ts";
import { finishSignIn, SignedIn, signedInReply } from "./finish_sign_in.ts";

const MINUTES = 5;
/** Wrong factors per right password. */
const TRIES_MAX = 5;
/** Expired rows that one sign-in takes away: more than it can add. */
const CLEANUP_ROWS = 10;

/**
 * Throws SECOND_FACTOR_REQUIRED with a token for the second step if the user has a second factor. The password was right,
 * and resets no limit.
 */
export async function requireSecondStep(sql: Sql, user: UserWithPassword): Promise<void> {
  const factors = await listSecondFactors(sql, user.id);
  if (factors.length === 0) return;
  await deleteOldRows(sql, { ...OLD_ROWS.factorChallenges, limit: CLEANUP_ROWS });
  const { secret: loginToken, hash: tokenHash } = mintLoginToken();
  const { id: userId, passwordHash } = user;
  const expiresAt = await insertPendingSignIn(sql, { userId, tokenHash, passwordHash, minutes: MINUTES });
  const methods = await listProofKinds(sql, userId, factors);
  throw new ApiError("SECOND_FACTOR_REQUIRED", {
    message: TEXTS.SECOND_FACTOR_REQUIRED.signIn,
    details: { loginToken, methods, expiresAt },
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
  async ({ body }, { sql, config }) => {
    const signIn = await requirePendingSignIn(sql, body.loginToken);
    const options = await sql.begin(async (tx) => {
      // First the sign-in, as its second step does: otherwise the two could wait for each other.
      if (!(await lockPendingSignIn(tx, signIn.id))) throw signInExpired();
      const passkeys = await lockPasskeys(tx, signIn.user.id);
      if (passkeys.length === 0) throw noPasskey();
      const { options, challengeHash } = await passkeyRequest(config, passkeys);
      await updateChallengeHash(tx, { id: signIn.id, challengeHash });
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
    const signIn = await requirePendingSignIn(deps.sql, body.loginToken);
    const { user } = signIn;
    await deps.signIn.limit.takeOfNetwork(context);
    const { session, verdict } = await takeSecondStep(deps, { signIn, proof, request });
    deps.metrics.signIns.inc({ result: session ? "succeeded" : "failed" });
    if (session) return signedInReply(deps.config, { session, user });
    deps.signIn.auditFailure(context, user.id);
    throw verdict && !verdict.ok ? proofError(verdict) : signInExpired();
  },
);

/** Checks the second factor and begins the session. The verdict is null if the sign-in was used or has expired meanwhile. */
async function takeSecondStep(
  deps: OperationDeps,
  { signIn, proof, request }: { signIn: PendingSignIn; proof: Proof; request: Request },
) {
  const { id, user } = signIn;
  return deps.sql.begin(async (tx) => {
    const isCurrent = await lockActiveUser(tx, { id: user.id, passwordHash: user.passwordHash });
    const challenge = isCurrent ? await lockPendingSignIn(tx, id) : null;
    if (!challenge) return { session: null, verdict: null };
    const { challengeHash } = challenge;
    const userId = user.id;
    const verdict: ProofVerdict = await checkProof(tx, deps, { userId, proof, challengeHash });
    await mailProofOutcome(tx, deps, { userId, request, verdict });
    if (verdict.ok) {
      await deleteChallenge(tx, id);
      const session = await finishSignIn(tx, deps, { user, request, secondFactor: verdict.kind });
      return { session, verdict };
    }
    // What a passkey had to sign works once.
    if ("passkey" in proof) await updateChallengeHash(tx, { id, challengeHash: null });
    await countWrongTry(tx, { id, limit: TRIES_MAX });
    return { session: null, verdict };
  });
}

async function requirePendingSignIn(sql: Sql, loginToken: string): Promise<PendingSignIn> {
  const signIn = await findPendingSignIn(sql, hashSecret(loginToken));
  if (!signIn) throw signInExpired();
  return signIn;
}

function signInExpired(): ApiError {
  return unauthorized(TEXTS.UNAUTHORIZED.signInOver);
}
