/** `user list` and `user show`. */
import { listApiKeys } from "../../sql/accounts/api_keys.ts";
import { listMemberships } from "../../sql/accounts/organization_members.ts";
import { listSessions } from "../../sql/accounts/sessions.ts";
import { listUsers, type UserRow } from "../../sql/accounts/users.ts";
import { presentKey } from "../accounts/keys.ts";
import { defineCommand } from "./command/command.ts";
import { requireUser } from "./command/lookups.ts";
import { fields, table } from "./command/present.ts";
import { keyTable } from "./key_list.ts";
import { sessionTable } from "./session.ts";

export function presentUser(user: UserRow) {
  const { id, username, email, name, platformRole, disabledAt, createdAt } = user;
  return { id, username, email, name, platformRole, disabledAt, createdAt };
}

/** Formats a user as text. */
export function describeUser(user: UserRow): string {
  return fields([
    ["User", `${user.username} <${user.email}>`],
    ["Id", user.id],
    ["Name", user.name ?? "-"],
    ["Platform role", user.platformRole],
    ["Disabled", user.disabledAt ?? "no"],
    ["Created", user.createdAt],
  ]);
}

export const listUsersCommand = defineCommand({
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
      ),
    };
  },
});

export const showUserCommand = defineCommand({
  name: "user show",
  about: "Shows a user with their organizations, keys and live sessions.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  async run({ sql }, values) {
    const user = await requireUser(sql, values.user);
    const memberships = await listMemberships(sql, user.id);
    const keys = await listApiKeys(sql, user.id);
    const sessions = await listSessions(sql, user.id);
    const organizations = memberships.map(({ orgId, slug, name, role, isPersonal, tier }) => {
      return { id: orgId, slug, name, role, isPersonal, subscriptionTier: tier };
    });
    const orgTable = table(
      ["ORGANIZATION", "ROLE", "SUBSCRIPTION", "ID"],
      organizations.map(({ slug, role, subscriptionTier, id }) => [slug, role, subscriptionTier, id]),
    );
    return {
      json: { ...presentUser(user), organizations, keys: keys.map(presentKey), sessions: [...sessions] },
      text: [describeUser(user), orgTable, keyTable(keys), sessionTable(sessions)].join("\n\n"),
    };
  },
});
