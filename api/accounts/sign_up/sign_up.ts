/** POST /auth/sign-up and /auth/sign-up/confirm: creates an account with a mailed link. */
import { type Static, Type } from "@sinclair/typebox";
import { hashLinkToken } from "../../../shared/account_mail_kinds.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import { dataOf, requestBody, Text, Uuid } from "../../../shared/schemas.ts";
import {
  deleteAccountMailDetails,
  findAccountLink,
  markAccountLinkUsed,
} from "../../../sql/accounts/account_mails.ts";
import { existsPendingInvitation } from "../../../sql/accounts/invitations.ts";
import type { UserRow } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { type OperationDeps, operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { AccountConflict, checkNewAccount, createAccount } from "../create_account.ts";
import {
  PASSWORD_MAX_LENGTH,
  PasswordField,
  passwordProblem,
  requireGoodPassword,
} from "../password_rules.ts";
import { accountSlugProblem, checkTexts } from "../profile_fields.ts";
import { SIGNED_OUT } from "../schemas.ts";
import { EXAMPLE_TOKEN, invalidLink, LinkToken, requestMail } from "./request_mail.ts";

const KIND = "sign_up";
const OTHER_PASSWORD =
  "does not match this sign-up. If someone else signed up with your address, choose a new password";

const Username = Type.String({
  minLength: 1,
  maxLength: 63,
  description:
    "`a-z`, `0-9`, dot, underscore and hyphen, starting with a letter or digit. Public; also the slug of your personal organization",
});

const SignUp = requestBody(
  "SignUp",
  {
    email: Type.String({ minLength: 1 }),
    username: Username,
    password: PasswordField,
    name: Type.Optional(Type.String({ description: "Display name" })),
  },
  { email: "ann@example.com", username: "ann", password: "seven quiet lamps at noon" },
);

export const signUp = operation(
  {
    ...SIGNED_OUT,
    id: "signUp",
    path: "/api/v1/auth/sign-up",
    summary: "Sign up",
    description:
      "Emails a link that creates the account. The response does not reveal whether the address may sign up (`SIGN_UP`) or " +
      "has an account; the email does. With `SIGN_UP=off`, no address may. The link works once, for 24 hours.",
    body: SignUp,
    response: { 202: null },
    fails: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ body, request }, deps) => {
    checkNewAccount(body);
    // Applies the limit before hashing the password, which takes 0.1 s of CPU time.
    await deps.signIn.limit.takeOfNetwork(requestContext(request));
    const { email, username, password, name = null } = body;
    const passwordHash = await deps.signIn.passwords.hash(password, { isFirst: false });
    await deps.writeAccountInTurn(request, async (tx) => {
      const isAdmitted = await maySignUp(tx, deps.config, email);
      const details = { username, name, passwordHash, isAdmitted };
      await requestMail(tx, deps, { request, mail: { kind: KIND, email, details } });
    });
    return reply(202, null);
  },
);

const SignUpConfirmation = requestBody(
  "SignUpConfirmation",
  {
    token: LinkToken,
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: PASSWORD_MAX_LENGTH,
        description: "Of the sign-up. Required without `newPassword`",
      }),
    ),
    newPassword: Type.Optional({ ...PasswordField, description: "In place of `password`" }),
    username: Type.Optional(Username),
  },
  { token: EXAMPLE_TOKEN, password: "seven quiet lamps at noon" },
);

export const confirmSignUp = operation(
  {
    ...SIGNED_OUT,
    id: "confirmSignUp",
    path: "/api/v1/auth/sign-up/confirm",
    summary: "Confirm your sign-up",
    description:
      "Takes the token from the email and creates the account and its personal organization. Requires the password of the " +
      "sign-up or, if someone else signed up with your address, `newPassword` and your `username`. If the username is taken, " +
      "send another one; the link stays valid. Attempts count as sign-in attempts of the client address.",
    body: SignUpConfirmation,
    response: {
      201: dataOf(
        Type.Object({ id: Uuid(), username: Text, email: Text }, { title: "NewAccount" }),
        "The new user, who can sign in",
        { id: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c12", username: "ann", email: "ann@example.com" },
      ),
    },
    fails: ["SIGN_UP_DISABLED", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  async ({ body, request }, deps) => {
    if (deps.config.signUp === "off") throw new ApiError("SIGN_UP_DISABLED");
    await deps.signIn.limit.takeOfNetwork(requestContext(request));
    const user = await createFromLink(deps, { ...body, request });
    return reply(201, { data: { id: user.id, username: user.username, email: user.email } });
  },
);

/**
 * Returns whether an address may sign up. Does the same work for every address, so that the response time reveals nothing about it.
 */
async function maySignUp(sql: Sql, { signUp: mode, signUpDomains }: Config, email: string): Promise<boolean> {
  const isInvited = await existsPendingInvitation(sql, email);
  if (mode === "off") return false;
  if (mode === "open") return true;
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return isInvited || (mode === "domains" && signUpDomains.includes(domain));
}

/** Creates the account of a link and marks the link as used in the same transaction. */
async function createFromLink(
  deps: OperationDeps,
  confirmation: Static<typeof SignUpConfirmation> & { request: Request },
): Promise<UserRow> {
  const { sql, signIn } = deps;
  const { password, newPassword, request } = confirmation;
  const tokenHash = hashLinkToken(confirmation.token);
  const mail = await findAccountLink(sql, { kind: KIND, tokenHash });
  if (!mail) throw invalidLink();
  // Drops the name if there is a new password: a stranger may have chosen it, and the user does not see it.
  const name = newPassword === undefined ? mail.details["name"] : null;
  const username = confirmation.username ?? String(mail.details["username"]);
  checkTexts({ username }, { username: accountSlugProblem });
  const owner = { username, email: mail.email };
  let passwordHash = String(mail.details["passwordHash"]);
  if (newPassword !== undefined) {
    requireGoodPassword(newPassword, owner);
    passwordHash = await signIn.passwords.hash(newPassword, { isFirst: false });
  } else if (password === undefined) {
    throw invalidField("password", "is required without newPassword");
  } else if (!(await signIn.passwords.verify(password, passwordHash, { isFirst: false }))) {
    // Without this check, a stranger who signs up with the user's address would know the account's password.
    throw invalidField("password", OTHER_PASSWORD);
  } else if (passwordProblem(password, owner)) {
    // The password passed the rules at sign-up, so only a new username can be the problem.
    throw invalidField("username", "must not be in the password: choose another");
  }
  try {
    return await deps.writeAccountInTurn(request, async (tx) => {
      if (!(await markAccountLinkUsed(tx, { kind: KIND, tokenHash }))) throw invalidLink();
      await deleteAccountMailDetails(tx, mail.id);
      const id = crypto.randomUUID();
      const { user } = await createAccount(tx, {
        ...owner,
        id,
        passwordHash,
        name: typeof name === "string" ? name : null,
        platformRole: "user",
        actor: auditActor(request, { userId: id, credential: null }),
      });
      return user;
    });
  } catch (error) {
    if (!(error instanceof AccountConflict)) throw error;
    // Only the owner of the address can see this error.
    throw error.field === "username"
      ? invalidField("username", `"${username}" is taken: choose another`)
      : invalidField("token", "is for an address that already has an account: sign in");
  }
}
