/** Requires a recent password or second factor before a change that outlives the session. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { existsSecondFactor } from "../../sql/accounts/second_factors.ts";
import { isSessionProven } from "../../sql/accounts/sessions.ts";
import {
  findUserWithPassword,
  lockActiveUser,
  type UserRow,
  type UserWithPassword,
} from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import type { OperationDeps } from "../http/operation.ts";
import { requestContext } from "../http/request_context.ts";
import { invalidField } from "../http/validation_problems.ts";

const MAX_AGE_SECONDS = 15 * 60;

/**
 * Returns the caller's account and locks it until the transaction ends. The lock serializes changes and uses of its factors, and
 * keeps concurrent requests from exceeding a quota. Throws UNAUTHORIZED if the account has been disabled.
 */
export async function lockCaller(tx: Sql, { userId }: Pick<Caller, "userId">): Promise<UserRow> {
  const user = await lockActiveUser(tx, { id: userId });
  if (!user) throw unauthorized(TEXTS.UNAUTHORIZED.disabled);
  return user;
}

/**
 * Throws SECOND_FACTOR_REQUIRED unless the session used a second factor within 15 minutes. Queries the database, because another
 * process may have just recorded the use.
 */
export async function requireRecentFactor(sql: Sql, { credential }: Caller): Promise<void> {
  if (await isSessionProven(sql, { id: credential.id, maxAgeSeconds: MAX_AGE_SECONDS })) return;
  throw new ApiError("SECOND_FACTOR_REQUIRED", {
    message: TEXTS.SECOND_FACTOR_REQUIRED.recent,
    details: { maxAgeSeconds: MAX_AGE_SECONDS },
  });
}

/**
 * Requires a recent second factor, or the password if the user has no factor. Otherwise, someone at an unattended session could
 * lock the user out.
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

/**
 * Returns the caller's account if the password is right. Counts as a sign-in attempt. Throws UNAUTHORIZED with the message
 * `wrong` otherwise.
 */
export async function requirePassword(
  { sql, signIn }: Pick<OperationDeps, "sql" | "signIn">,
  options: { caller: Caller; request: Request; password: string; wrong?: string },
): Promise<UserWithPassword> {
  const { caller, request, password, wrong = TEXTS.UNAUTHORIZED.password } = options;
  const user = await findUserWithPassword(sql, caller.userId);
  if (!user) throw unauthorized(wrong);
  const { isKnownNetwork } = await signIn.limit.take(requestContext(request), user.email, caller.credential);
  const isRight = await signIn.passwords.verify(password, user.passwordHash, { isFirst: isKnownNetwork });
  if (!isRight) throw unauthorized(wrong);
  return user;
}

/** Returns the error for a user who has no second factor. */
export function noFactor(): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: TEXTS.UNPROCESSABLE_ENTITY.noFactor,
    details: { reason: "no second factor" },
  });
}
