/** POST /auth/password: changes the password of the signed-in user. */

import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { findUserWithPassword } from "../../sql/accounts/users.ts";
import { auditActor } from "../http/audit_actor.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import { coarseNetworkOf } from "../http/client_address.ts";
import { type OperationDeps, operation, reply } from "../http/operation.ts";
import { requestContext } from "../http/request_context.ts";
import { requestBody } from "../http/schemas.ts";
import { invalidField } from "../http/validation_problems.ts";
import { PASSWORD_MAX_LENGTH, PasswordField, passwordProblem } from "./password_rules.ts";
import { OWN_ACCOUNT } from "./schemas.ts";
import { setPassword } from "./set_password.ts";

const PasswordChange = requestBody(
  "PasswordChange",
  {
    currentPassword: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
    newPassword: PasswordField,
  },
  { currentPassword: "correct horse battery staple", newPassword: "seven quiet lamps at noon" },
);

export const changePassword = operation(
  {
    ...OWN_ACCOUNT,
    id: "changePassword",
    method: "POST",
    path: "/api/v1/auth/password",
    summary: "Change your password",
    description:
      "Ends all your other sessions; your API keys stay valid. A wrong current password returns 401 and counts as a " +
      "sign-in attempt.",
    body: PasswordChange,
    response: { 204: null },
    secret: true,
    fails: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ caller, request, body: { currentPassword, newPassword } }, deps) => {
    const user = await findUserWithPassword(deps.sql, caller.userId);
    if (!user) throw wrongPassword();
    const problem = passwordProblem(newPassword, user);
    if (problem) throw invalidField("newPassword", problem);
    const { limit, passwords } = deps.signIn;
    const { isKnownNetwork } = await limit.take(requestContext(request), user.email, caller.credential);
    const fromHash = user.passwordHash;
    const isRight = await passwords.verify(currentPassword, fromHash, { isFirst: isKnownNetwork });
    if (!isRight) throw wrongPassword();
    const change = { caller, request, username: user.username, fromHash, newPassword };
    if (!(await replacePassword(deps, change))) throw wrongPassword();
    return reply(204, null);
  },
);

function wrongPassword() {
  return unauthorized(TEXTS.UNAUTHORIZED.currentPassword);
}

/** Replaces the password, ends the user's other sessions and writes an audit entry. False if the password has changed meanwhile. */
async function replacePassword(
  { sql, callers, signIn }: OperationDeps,
  change: { caller: Caller; request: Request; username: string; fromHash: string; newPassword: string },
): Promise<boolean> {
  const { caller, request, fromHash } = change;
  const passwordHash = await signIn.passwords.hash(change.newPassword);
  const ended = await sql.begin((tx) =>
    setPassword(tx, {
      user: { id: caller.userId, username: change.username },
      passwordHash,
      fromHash,
      action: "password.change",
      actor: auditActor(request, caller),
      keep: {
        sessionId: caller.credential.id,
        network: coarseNetworkOf(requestContext(request).address, 64),
      },
    }),
  );
  for (const id of ended ?? []) callers.forget(id);
  return ended !== null;
}
