/** POST /auth/password: changes the password of the signed-in user. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { markSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { deleteSignInNetworks } from "../../sql/accounts/sign_in_networks.ts";
import { findUserWithPassword, updateUserPassword } from "../../sql/accounts/users.ts";
import { access, holdsSecret } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { coarseNetworkOf } from "../http/request_address.ts";
import { requestContext } from "../http/request_context.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { failsWith } from "../openapi/types.ts";
import type { AuthDeps } from "./auth_deps.ts";
import { AUTH_TAG } from "./auth_schemas.ts";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH, passwordProblem } from "./password_rules.ts";

const PasswordBody = t.Object(
  {
    currentPassword: t.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
    newPassword: t.String({
      minLength: PASSWORD_MIN_LENGTH,
      maxLength: PASSWORD_MAX_LENGTH,
      description:
        "Not one of the 10,000 most common passwords, and without the username or email address in it",
    }),
  },
  {
    title: "PasswordChange",
    additionalProperties: false,
    examples: [{ currentPassword: "correct horse battery staple", newPassword: "seven quiet lamps at noon" }],
  },
);

function wrongPassword(): ApiError {
  return new ApiError("UNAUTHORIZED", {
    message: "The current password is wrong.",
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

/** Replaces the password, ends the user's other sessions and writes an audit entry. False if the password has changed meanwhile. */
async function replacePassword(
  { sql, callers, passwords }: AuthDeps,
  change: { caller: Caller; request: Request; fromHash: string; newPassword: string },
): Promise<boolean> {
  const { caller, request, fromHash } = change;
  const passwordHash = await passwords.hash(change.newPassword);
  const { userId } = caller;
  const ended = await sql.begin(async (tx) => {
    if (!(await updateUserPassword(tx, { id: userId, passwordHash, fromHash }))) return null;
    const ids = await markSessionsRevoked(tx, { userId, exceptId: caller.credential.id });
    const exceptNetwork = coarseNetworkOf(requestContext(request).address, 64);
    await deleteSignInNetworks(tx, { userId, exceptNetwork });
    await insertAuditEntry(tx, {
      ...auditActor(request, caller),
      action: "password.change",
      subjectType: "user",
      subjectId: userId,
      details: { endedSessions: ids.length },
    });
    return ids;
  });
  for (const id of ended ?? []) callers.forget(id);
  return ended !== null;
}

export function passwordRoutes(deps: AuthDeps) {
  return new Elysia().use(access).post(
    "/password",
    async ({ caller, request, body }) => {
      const { currentPassword, newPassword } = body;
      const user = await findUserWithPassword(deps.sql, caller.userId);
      if (!user) throw wrongPassword();
      const problem = passwordProblem(newPassword, user);
      if (problem) throw invalidInput([{ path: "newPassword", message: problem }]);
      const { isKnownNetwork } = await deps.loginLimit.take(requestContext(request), user.email);
      const fromHash = user.passwordHash;
      const isRight = await deps.passwords.verify(currentPassword, fromHash, { isFirst: isKnownNetwork });
      if (!isRight) throw wrongPassword();
      const change = { caller, request, fromHash, newPassword };
      if (!(await replacePassword(deps, change))) throw wrongPassword();
      return new Response(null, { status: 204 });
    },
    {
      access: "session",
      body: PasswordBody,
      detail: {
        tags: [AUTH_TAG],
        // Its fingerprint lacks the passwords, so a stored 204 could answer a request for another one.
        ...holdsSecret(),
        operationId: "changePassword",
        summary: "Change your password",
        description:
          "Ends all your other sessions; your API keys stay valid. A wrong current password returns 401 and counts as a " +
          "sign-in attempt.",
        responses: { 204: { description: "Changed" } },
        ...failsWith("RATE_LIMITED", "SERVICE_UNAVAILABLE"),
      },
    },
  );
}
