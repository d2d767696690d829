/** POST /auth/email and /auth/email/confirm: changes an account's email address, with a link sent to the new address. */
import { Type } from "@sinclair/typebox";
import { hashLinkToken } from "../../../shared/account_mail_kinds.ts";
import { requestBody } from "../../../shared/schemas.ts";
import {
  endAccountLinks,
  findAccountLink,
  markAccountLinkUsed,
  queueAccountMail,
} from "../../../sql/accounts/account_mails.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { lockActiveUser, updateUser } from "../../../sql/accounts/users.ts";
import { violates } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { isLike, PASSWORD_MAX_LENGTH } from "../password_rules.ts";
import { checkTexts, emailProblem } from "../profile_fields.ts";
import { requirePassword } from "../require_proof.ts";
import { OWN_ACCOUNT, SIGNED_OUT } from "../schemas.ts";
import { EXAMPLE_TOKEN, invalidLink, LinkToken, requestMail } from "./request_mail.ts";

const KIND = "email_change";
const IN_PASSWORD =
  "must not be in your password, or contain it: choose another address, or change the password first";

export const requestEmailChange = operation(
  {
    ...OWN_ACCOUNT,
    id: "requestEmailChange",
    method: "POST",
    path: "/api/v1/auth/email",
    summary: "Change your email address",
    description:
      "Emails a link to the new address. The change takes effect when the link is used, within 24 hours. The old address is " +
      "notified of the request and of the change. The response does not reveal whether another account has the address. A " +
      "wrong password returns 401 and counts as a sign-in attempt. An address that is in your password, or contains it, " +
      "returns 400.",
    body: requestBody(
      "EmailChange",
      {
        email: Type.String({ minLength: 1 }),
        password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, description: "Your password" }),
      },
      { email: "ann@example.org", password: "correct horse battery staple" },
    ),
    response: { 202: null },
    secret: true,
    fails: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ caller, request, body: { email, password } }, deps) => {
    checkTexts({ email }, { email: emailProblem });
    const user = await requirePassword(deps, { caller, request, password });
    if (isLike(password, email)) throw invalidField("email", IN_PASSWORD);
    await deps.writeAccountInTurn(request, async (tx) => {
      // Locks the account. Its password or address may have changed since the password was checked.
      const account = await lockActiveUser(tx, { id: user.id, passwordHash: user.passwordHash });
      if (!account) throw unauthorized();
      const { id: userId, email: oldEmail, username } = account;
      const details = { oldEmail, username };
      await requestMail(tx, deps, { request, mail: { kind: KIND, email, userId, details } });
      const notice = { kind: "email_change_requested", email: oldEmail, userId } as const;
      await queueAccountMail(tx, deps.boss, { ...notice, details: { username, newEmail: email } });
    });
    return reply(202, null);
  },
);

export const confirmEmailChange = operation(
  {
    ...SIGNED_OUT,
    id: "confirmEmailChange",
    path: "/api/v1/auth/email/confirm",
    summary: "Confirm your new email address",
    description:
      "Takes the token from the email. From then on, you sign in with the new address. Sessions and API keys stay valid. Attempts count as sign-in attempts " +
      "of the client address.",
    body: requestBody("EmailConfirmation", { token: LinkToken }, { token: EXAMPLE_TOKEN }),
    response: { 204: null },
    fails: ["RATE_LIMITED"],
  },
  async ({ body: { token }, request }, deps) => {
    await deps.signIn.limit.takeOfNetwork(requestContext(request));
    const tokenHash = hashLinkToken(token);
    const mail = await findAccountLink(deps.sql, { kind: KIND, tokenHash });
    if (mail?.userId == null) throw invalidLink();
    const { userId } = mail;
    await deps
      .writeAccountInTurn(request, async (tx) => {
        // Locks the user first, to serialize this change with password changes.
        const user = await lockActiveUser(tx, { id: userId });
        // A change of the address since the request invalidates the link.
        if (!user || user.email !== mail.details["oldEmail"]) throw invalidLink();
        if (!(await markAccountLinkUsed(tx, { kind: KIND, tokenHash }))) throw invalidLink();
        await updateUser(tx, userId, { email: mail.email });
        await endAccountLinks(tx, { kind: "password_reset", userId });
        await insertAuditEntry(tx, {
          ...auditActor(request, { userId, credential: null }),
          action: "email.change",
          subject: { type: "user", id: userId },
          details: { username: user.username },
        });
        const details = { username: user.username, newEmail: mail.email };
        await queueAccountMail(tx, deps.boss, { kind: "email_changed", email: user.email, userId, details });
      })
      .catch((error: unknown) => {
        // Another account has taken the address. Only the owner of the address can see this error.
        throw violates(error, "users_email_key") ? invalidLink() : error;
      });
    return reply(204, null);
  },
);
