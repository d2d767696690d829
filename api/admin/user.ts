/** `user create`, `list`, `show`, `update`, `set-password`, `disable`, `enable` and `remove-factors`. */
import { PLATFORM_ROLES } from "../../shared/vocabulary.ts";
import { queueAccountMail } from "../../sql/accounts/account_mails.ts";
import { listApiKeys } from "../../sql/accounts/api_keys.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { revokeAllSentInvitations } from "../../sql/accounts/invitations.ts";
import { listMemberships } from "../../sql/accounts/organization_members.ts";
import {
  deleteSecondFactors,
  listSecondFactors,
  replaceRecoveryCodes,
  type SecondFactorRow,
} from "../../sql/accounts/second_factors.ts";
import { listSessions, markSessionsRevoked } from "../../sql/accounts/sessions.ts";
import { listUsers, lockUser, type UserRow, updateUserDisabled } from "../../sql/accounts/users.ts";
import { checkNewAccount, createAccount } from "../accounts/create_account.ts";
import {
  hashPassword,
  PASSWORD_MIN_LENGTH,
  type PasswordOwner,
  passwordProblem,
} from "../accounts/password_rules.ts";
import { setPassword } from "../accounts/set_password.ts";
import { changeUser, checkUserChanges } from "../accounts/users.ts";
import { changeWithMails } from "./change_with_mails.ts";
import { AdminError, type CommandContext, defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { fields, table } from "./command/format_output.ts";
import { requireUser, USER_FLAG } from "./command/lookups.ts";
import { keyTable } from "./key.ts";
import { sessionTable } from "./session.ts";

export const USER_COMMANDS = [
  defineCommand({
    name: "user create",
    about: "Creates a user with a personal organization, whose slug is the username.",
    flags: {
      username: {
        placeholder: "U",
        required: true,
        about: "lower case, unique; also the slug of the personal organization",
      },
      email: { placeholder: "E", required: true, about: "unique; used to sign in" },
      password: {
        placeholder: "P",
        about: `at least ${PASSWORD_MIN_LENGTH} characters; default: read from standard input`,
      },
      name: { placeholder: "N", about: "display name" },
      "platform-admin": { about: "makes the user a platform administrator" },
    },
    async run({ sql, readPassword }, values) {
      checkNewAccount(values);
      const password = values.password ?? requirePassword(await readPassword(), values);
      const passwordHash = await hashPassword(password);
      const { user, personalOrg } = await sql.begin((tx) =>
        createAccount(tx, {
          username: values.username,
          email: values.email,
          passwordHash,
          name: values.name ?? null,
          platformRole: values["platform-admin"] ? "admin" : "user",
          actor: OPERATOR,
        }),
      );
      return {
        json: {
          id: user.id,
          username: user.username,
          email: user.email,
          personalOrg: { id: personalOrg.id, slug: personalOrg.slug },
        },
        text: fields({
          User: `${user.username} <${user.email}>`,
          Id: user.id,
          "Platform role": user.platformRole,
          "Personal organization": `${personalOrg.slug} (${personalOrg.id})`,
        }),
      };
    },
  }),
  defineCommand({
    name: "user list",
    about: "Lists all users, newest first.",
    flags: {},
    async run({ sql }) {
      const users = await listUsers(sql);
      return {
        json: { users: users.map(presentUser) },
        text: table(
          ["USERNAME", "EMAIL", "PLATFORM ROLE", "DISABLED", "CREATED", "ID"],
          users.map((user) => [
            ...[user.username, user.email, user.platformRole, user.disabledAt ?? "no"],
            ...[user.createdAt, user.id],
          ]),
          "No users.",
        ),
      };
    },
  }),
  defineCommand({
    name: "user show",
    about: "Shows a user with their organizations, keys, second factors and live sessions.",
    flags: { user: USER_FLAG },
    async run({ sql }, values) {
      const user = await requireUser(sql, values.user);
      const memberships = await listMemberships(sql, user.id);
      const keys = await listApiKeys(sql, user.id);
      const secondFactors = await listSecondFactors(sql, user.id);
      const sessions = await listSessions(sql, user.id);
      const organizations = memberships.map(({ orgId, slug, name, role, isPersonal, tier }) => {
        return { id: orgId, slug, name, role, isPersonal, subscriptionTier: tier };
      });
      const orgTable = table(
        ["ORGANIZATION", "ROLE", "SUBSCRIPTION", "ID"],
        organizations.map(({ slug, role, subscriptionTier, id }) => [slug, role, subscriptionTier, id]),
        "No organizations.",
      );
      return {
        json: { ...presentUser(user), organizations, keys, secondFactors, sessions },
        text: [
          ...[describeUser(user), orgTable, keyTable(keys), factorTable(secondFactors)],
          sessionTable(sessions),
        ].join("\n\n"),
      };
    },
  }),
  defineCommand({
    name: "user update",
    about: "Updates the given fields of a user.",
    flags: {
      user: USER_FLAG,
      name: { placeholder: "N", about: "display name" },
      email: { placeholder: "E", about: "unique; used to sign in" },
      bio: { placeholder: "TEXT", about: "public biography" },
      website: { placeholder: "URL", about: "public http or https URL" },
      "platform-role": { words: PLATFORM_ROLES, about: "an admin may record executions" },
    },
    async run({ sql }, { user: username, name, email, bio, website, "platform-role": platformRole }) {
      const given = Object.entries({ name, email, bio, websiteUrl: website, platformRole });
      const changes = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) {
        throw new UsageError("Nothing to update. Pass --name, --email, --bio, --website or --platform-role.");
      }
      // Report invalid flags before an unknown user.
      checkUserChanges(changes);
      const user = await sql.begin(async (tx) => {
        await changeUser(tx, { user: await requireUser(tx, username), changes, actor: OPERATOR });
        return requireUser(tx, username);
      });
      return { json: presentUser(user), text: describeUser(user) };
    },
  }),
  defineCommand({
    name: "user set-password",
    about: "Sets a password, read from standard input, and ends all sessions of the user.",
    flags: { user: USER_FLAG },
    async run({ sql, readPassword }, values) {
      const owner = await requireUser(sql, values.user);
      const { id } = owner;
      const passwordHash = await hashPassword(requirePassword(await readPassword(), owner));
      const ended = await sql.begin(async (tx) => {
        const user = await requireUser(tx, values.user);
        const sessions = await setPassword(tx, {
          user,
          passwordHash,
          action: "password.set",
          actor: OPERATOR,
        });
        return sessions?.length ?? 0;
      });
      return {
        json: { id, sessionsRevoked: ended },
        text: fields({ User: values.user, "Sessions ended": ended }),
      };
    },
  }),
  defineCommand({
    name: "user disable",
    about:
      "Disables a user: sign-in, keys and sessions stop working within a second. Invitations that the user sent are revoked.",
    flags: { user: USER_FLAG },
    run: (context, { user }) => setDisabled(context, user, true),
  }),
  defineCommand({
    name: "user enable",
    about: "Enables a disabled user. Unexpired keys and sessions work again.",
    flags: { user: USER_FLAG },
    run: (context, { user }) => setDisabled(context, user, false),
  }),
  defineCommand({
    name: "user remove-factors",
    about:
      "Removes all second factors and recovery codes of a user, ends their sessions, and tells them by mail.",
    flags: { user: USER_FLAG },
    async run({ sql }, { user: username }) {
      const removed = await changeWithMails(sql, async (tx, boss) => {
        const { id: userId } = await requireUser(tx, username);
        await lockUser(tx, userId);
        // Read the user again, because the email address may have changed before the account was locked.
        const user = await requireUser(tx, username);
        const factors = await deleteSecondFactors(tx, userId);
        if (factors === 0) throw new AdminError(`User "${username}" has no second factor.`);
        await replaceRecoveryCodes(tx, { userId, hashes: [] });
        const sessions = (await markSessionsRevoked(tx, { userId })).length;
        await insertAuditEntry(tx, {
          actorType: "operator",
          action: "factor.reset",
          subject: { type: "user", id: userId },
          details: { username, factors, endedSessions: sessions },
        });
        await queueAccountMail(tx, boss, {
          kind: "factor_notice",
          email: user.email,
          userId,
          details: { event: "reset" },
        });
        return { id: userId, factorsRemoved: factors, sessionsRevoked: sessions };
      });
      return {
        json: removed,
        text: fields({
          User: username,
          "Factors removed": removed.factorsRemoved,
          "Sessions ended": removed.sessionsRevoked,
        }),
      };
    },
  }),
];

/** Returns the password. Throws UsageError if the password is empty or not allowed. */
function requirePassword(password: string, owner: PasswordOwner): string {
  if (password === "")
    throw new UsageError("A password is required. Type it, or pipe it into standard input.");
  const problem = passwordProblem(password, owner);
  if (problem) throw new UsageError(`The password ${problem}`);
  return password;
}

function presentUser(user: UserRow) {
  const { id, username, email, name, platformRole, disabledAt, createdAt } = user;
  return { id, username, email, name, platformRole, disabledAt, createdAt };
}

function describeUser(user: UserRow): string {
  return fields({
    User: `${user.username} <${user.email}>`,
    Id: user.id,
    Name: user.name ?? "-",
    "Platform role": user.platformRole,
    Disabled: user.disabledAt ?? "no",
    Created: user.createdAt,
  });
}

function factorTable(factors: readonly SecondFactorRow[]): string {
  return table(
    ["SECOND FACTOR", "NAME", "CREATED", "LAST USED", "ID"],
    factors.map(({ kind, name, createdAt, lastUsedAt, id }) => [
      kind,
      name,
      createdAt,
      lastUsedAt ?? "-",
      id,
    ]),
    "No second factors.",
  );
}

async function setDisabled({ sql }: CommandContext, username: string, isDisabled: boolean) {
  const user = await sql.begin(async (tx) => {
    const before = await requireUser(tx, username);
    const disabledAt = await updateUserDisabled(tx, { id: before.id, isDisabled });
    if (isDisabled) await revokeAllSentInvitations(tx, before.id);
    await insertAuditEntry(tx, {
      ...OPERATOR,
      action: isDisabled ? "user.disable" : "user.enable",
      subject: { type: "user", id: before.id },
      details: { username },
    });
    return { id: before.id, disabledAt };
  });
  return {
    json: user,
    text: fields({ User: username, Disabled: user.disabledAt ?? "no" }),
  };
}
