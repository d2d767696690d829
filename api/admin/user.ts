/** `user create`: a user and their personal organization. */
import { checkNewAccount, createAccount } from "../accounts/create_account.ts";
import {
  hashPassword,
  PASSWORD_MIN_LENGTH,
  type PasswordOwner,
  passwordProblem,
} from "../accounts/password_rules.ts";
import { defineCommand, OPERATOR, UsageError } from "./command/command.ts";
import { fields } from "./command/present.ts";

/** Returns a password that was read, or throws UsageError if it is not allowed. */
export function requirePassword(password: string, owner: PasswordOwner): string {
  if (password === "")
    throw new UsageError("A password is required. Type it, or pipe it into standard input.");
  const problem = passwordProblem(password, owner);
  if (problem) throw new UsageError(`The password ${problem}`);
  return password;
}

export const createUserCommand = defineCommand({
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
      text: fields([
        ["User", `${user.username} <${user.email}>`],
        ["Id", user.id],
        ["Platform role", user.platformRole],
        ["Personal organization", `${personalOrg.slug} (${personalOrg.id})`],
      ]),
    };
  },
});
