/** POST /auth/password: changes the password of the signed-in user. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { requestBody } from "../../shared/schemas.ts";
import { findUser } from "../../sql/accounts/users.ts";
import { auditActor } from "../http/audit_actor.ts";
import { unauthorized } from "../http/authenticate.ts";
import { coarseNetworkOf } from "../http/client_address.ts";
import { operation, reply } from "../http/operation.ts";
import { requestContext } from "../http/request_context.ts";
import { PASSWORD_MAX_LENGTH, PasswordField, requireGoodPassword } from "./password_rules.ts";
import { requirePassword } from "./require_proof.ts";
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
    const { sql, callers, signIn } = deps;
    const wrong = TEXTS.UNAUTHORIZED.currentPassword;
    const account = await findUser(sql, caller.userId);
    if (!account) throw unauthorized(wrong);
    requireGoodPassword(newPassword, account);
    const user = await requirePassword(deps, { caller, request, password: currentPassword, wrong });
    const passwordHash = await signIn.passwords.hash(newPassword);
    const ended = await deps.writeAccountInTurn(request, async (tx) => {
      const ids = await setPassword(tx, {
        user,
        passwordHash,
        fromHash: user.passwordHash,
        action: "password.change",
        actor: auditActor(request, caller),
        keep: {
          sessionId: caller.credential.id,
          network: coarseNetworkOf(requestContext(request).address, 64),
        },
      });
      // The email address may have changed since the password was checked against it.
      if (ids) requireGoodPassword(newPassword, (await findUser(tx, user.id)) ?? user);
      return ids;
    });
    // The password changed while this request was running.
    if (!ended) throw unauthorized(wrong);
    for (const id of ended) callers.forget(id);
    return reply(204, null);
  },
);
