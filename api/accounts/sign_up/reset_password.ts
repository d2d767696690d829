/** POST /auth/password/reset and /auth/password/reset/confirm: resets a forgotten password with a mailed link. */
import { Type } from "@sinclair/typebox";
import { hashLinkToken } from "../../../shared/account_mail_kinds.ts";
import { requestBody } from "../../../shared/schemas.ts";
import { findAccountLink, markAccountLinkUsed } from "../../../sql/accounts/account_mails.ts";
import { upsertSignInNetwork } from "../../../sql/accounts/sign_in_networks.ts";
import { findUser, lockActiveUser, type UserRow } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { coarseNetworkOf } from "../../http/client_address.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { PasswordField, requireGoodPassword } from "../password_rules.ts";
import { checkTexts, knownEmailProblem } from "../profile_fields.ts";
import { EXAMPLE_USER, FOR_VISITORS, SIGNED_OUT } from "../schemas.ts";
import { setPassword } from "../set_password.ts";
import { EXAMPLE_TOKEN, invalidLink, LinkToken, requestMail } from "./request_mail.ts";

const KIND = "password_reset";

export const requestPasswordReset = operation(
  {
    ...FOR_VISITORS,
    id: "requestPasswordReset",
    path: "/api/v1/auth/password/reset",
    summary: "Request a password reset",
    description:
      "Emails a link if an account has this address. The response does not reveal whether one does. The link works once, for " +
      "an hour; a new link replaces it. An address gets at most three such emails an hour.",
    body: requestBody(
      "PasswordResetRequest",
      { email: Type.String({ minLength: 1, description: "Case-insensitive" }) },
      { email: EXAMPLE_USER.email },
    ),
    response: { 202: null },
    fails: ["RATE_LIMITED"],
  },
  async ({ body: { email }, request }, deps) => {
    checkTexts({ email }, { email: knownEmailProblem });
    await deps.writeAccountInTurn(request, (tx) =>
      requestMail(tx, deps, { request, mail: { kind: KIND, email } }),
    );
    return reply(202, null);
  },
);

export const resetPassword = operation(
  {
    ...SIGNED_OUT,
    id: "resetPassword",
    path: "/api/v1/auth/password/reset/confirm",
    summary: "Reset your password",
    description:
      "Takes the token from the email. Ends all your sessions; your API keys stay valid. Attempts count as sign-in attempts of " +
      "the client address.",
    body: requestBody(
      "PasswordReset",
      { token: LinkToken, newPassword: PasswordField },
      { token: EXAMPLE_TOKEN, newPassword: "seven quiet lamps at noon" },
    ),
    response: { 204: null },
    fails: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ body: { token, newPassword }, request }, deps) => {
    const { sql, signIn, callers } = deps;
    const context = requestContext(request);
    await signIn.limit.takeOfNetwork(context);
    const tokenHash = hashLinkToken(token);
    const user = await findUserOfLink(sql, tokenHash);
    if (!user) throw invalidLink();
    requireGoodPassword(newPassword, user);
    const passwordHash = await signIn.passwords.hash(newPassword);
    const ended = await deps.writeAccountInTurn(request, async (tx) => {
      // Locks the user first, as changes of the password or address do, to serialize them.
      if (!(await lockActiveUser(tx, { id: user.id }))) throw invalidLink();
      if (!(await findUserOfLink(tx, tokenHash))) throw invalidLink();
      // If two requests use the same link, the second one fails.
      if (!(await markAccountLinkUsed(tx, { kind: KIND, tokenHash }))) throw invalidLink();
      const ids = await setPassword(tx, {
        user,
        passwordHash,
        action: "password.reset",
        actor: auditActor(request, { userId: user.id, credential: null }),
      });
      // Otherwise, other people's guesses could delay the user's next sign-in.
      await upsertSignInNetwork(tx, { userId: user.id, network: coarseNetworkOf(context.address, 64) });
      return ids;
    });
    for (const id of ended ?? []) callers.forget(id);
    return reply(204, null);
  },
);

/** Finds the user of a valid link. The account must be enabled and still have the address of the mail. */
async function findUserOfLink(sql: Sql, tokenHash: Buffer): Promise<UserRow | null> {
  const mail = await findAccountLink(sql, { kind: KIND, tokenHash });
  const user = mail?.userId == null ? null : await findUser(sql, mail.userId);
  const hasAddress = user?.email.toLowerCase() === mail?.email.toLowerCase();
  return user?.disabledAt === null && hasAddress ? user : null;
}
