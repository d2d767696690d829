/** Requires that the user has just proven themselves, before something that outlives the session. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { existsSecondFactor } from "../../sql/accounts/second_factors.ts";
import { isSessionProven } from "../../sql/accounts/sessions.ts";
import { findUserWithPassword, type UserWithPassword } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import type { OperationDeps } from "../http/operation.ts";
import { requestContext } from "../http/request_context.ts";
import { invalidField } from "../http/validation_problems.ts";

const MAX_AGE_SECONDS = 15 * 60;

/**
 * Throws SECOND_FACTOR_REQUIRED unless the session was proven with a second factor within 15 minutes. Asks the database,
 * because another process may have just written it.
 */
export async function requireRecentFactor(sql: Sql, { credential }: Caller): Promise<void> {
  if (await isSessionProven(sql, { id: credential.id, maxAgeSeconds: MAX_AGE_SECONDS })) return;
  throw new ApiError("SECOND_FACTOR_REQUIRED", {
    message: TEXTS.SECOND_FACTOR_REQUIRED.recent,
    details: { maxAgeSeconds: MAX_AGE_SECONDS },
  });
}

/**
 * Requires a recent second factor, or the password from users who have none: an unattended session must not
 * lock its user out.
 */
export async function requireProof(
  { sql, signIn }: Pick<OperationDeps, "sql" | "signIn">,
  { caller, request, password }: { caller: Caller; request: Request; password: string | undefined },
): Promise<void> {
  if (await existsSecondFactor(sql, caller.userId)) return requireRecentFactor(sql, caller);
  if (password === undefined) {
    throw invalidField("password", "is required, because you have no second factor yet");
  }
  await requirePassword({ sql, signIn }, { caller, request, password });
}

/** Returns the caller's account if this is its password. Counts as an attempt to sign in. Throws UNAUTHORIZED. */
export async function requirePassword(
  { sql, signIn }: Pick<OperationDeps, "sql" | "signIn">,
  { caller, request, password }: { caller: Caller; request: Request; password: string },
): Promise<UserWithPassword> {
  const user = await findUserWithPassword(sql, caller.userId);
  if (!user) throw unauthorized(TEXTS.UNAUTHORIZED.password);
  const { isKnownNetwork } = await signIn.limit.take(requestContext(request), user.email, caller.credential);
  const isRight = await signIn.passwords.verify(password, user.passwordHash, { isFirst: isKnownNetwork });
  if (!isRight) throw unauthorized(TEXTS.UNAUTHORIZED.password);
  return user;
}

/** Returns the error for a user who has no second factor to use or renew. */
export function noFactor(): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: TEXTS.UNPROCESSABLE_ENTITY.noFactor,
    details: { reason: "no second factor" },
  });
}
