/** `user set-password`, `disable`, `enable` and `update`. */
import { PLATFORM_ROLES } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { updateUserDisabled } from "../../sql/accounts/users.ts";
import { changeUser, checkUserChanges } from "../accounts/change_user.ts";
import { hashPassword } from "../accounts/password_rules.ts";
import { setPassword } from "../accounts/set_password.ts";
import { type CommandContext, defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { requireUser } from "./command/lookups.ts";
import { fields } from "./command/present.ts";
import { requirePassword } from "./user.ts";
import { describeUser, presentUser } from "./user_list.ts";

export const setPasswordCommand = defineCommand({
  name: "user set-password",
  about: "Sets a password, read from standard input, and ends all sessions of the user.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
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
      text: fields([
        ["User", values.user],
        ["Sessions ended", ended],
      ]),
    };
  },
});

async function setDisabled({ sql }: CommandContext, username: string, isDisabled: boolean) {
  const user = await sql.begin(async (tx) => {
    const before = await requireUser(tx, username);
    const disabledAt = await updateUserDisabled(tx, { id: before.id, isDisabled });
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
    text: fields([
      ["User", username],
      ["Disabled", user.disabledAt ?? "no"],
    ]),
  };
}

export const disableUserCommand = defineCommand({
  name: "user disable",
  about: "Disables a user: sign-in, keys and sessions stop working within a second.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  run: (context, { user }) => setDisabled(context, user, true),
});

export const enableUserCommand = defineCommand({
  name: "user enable",
  about: "Enables a disabled user. Unexpired keys and sessions work again.",
  flags: { user: { placeholder: "U", required: true, about: "username" } },
  run: (context, { user }) => setDisabled(context, user, false),
});

export const updateUserCommand = defineCommand({
  name: "user update",
  about: "Updates the given fields of a user.",
  flags: {
    user: { placeholder: "U", required: true, about: "username" },
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
    // A mistake in the command comes first.
    checkUserChanges(changes);
    const user = await sql.begin(async (tx) => {
      await changeUser(tx, { user: await requireUser(tx, username), changes, actor: OPERATOR });
      return requireUser(tx, username);
    });
    return { json: presentUser(user), text: describeUser(user) };
  },
});
