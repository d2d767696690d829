/** Creates an account with its personal organization, for a sign-up or an operator. */
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { upsertMember } from "../../sql/accounts/organization_members.ts";
import { insertOrg, type OrgRow } from "../../sql/accounts/orgs.ts";
import { insertUser, type NewUser, type UserRow } from "../../sql/accounts/users.ts";
import { type Sql, violates } from "../../sql/connection/pool.ts";
import { passwordProblem } from "./password_rules.ts";
import { accountSlugProblem, checkTexts, emailProblem, nameProblem } from "./profile_fields.ts";

/** A user whose username is also the slug of their personal organization. */
export interface NewAccount extends NewUser {
  /** The person who signs up, or an operator. */
  actor: AuditActor;
}

/** Throws VALIDATION_ERROR with every invalid field. Omit `password` if it is not known yet. */
export function checkNewAccount(account: {
  email: string;
  username: string;
  password?: string | undefined;
  name?: string | undefined;
}): void {
  checkTexts(
    { ...account },
    {
      email: emailProblem,
      username: accountSlugProblem,
      password: (password) => passwordProblem(password, account),
      name: nameProblem,
    },
  );
}

type Field = "username" | "email";

const CONFLICTS: Readonly<Record<string, { field: Field; reason: string }>> = {
  users_username_key: { field: "username", reason: "the username is taken" },
  organizations_slug_key: { field: "username", reason: "an organization has the username as its slug" },
  users_email_key: { field: "email", reason: "another user has the email" },
};

/** Reports a taken username or email. The transaction is aborted. Operators see the message. */
export class AccountConflict extends Error {
  override readonly name = "AccountConflict";
  readonly field: Field;

  constructor(
    { field, reason }: { field: Field; reason: string },
    { username, email }: Pick<NewAccount, "username" | "email">,
  ) {
    super(`Cannot create user "${username}": ${field === "email" ? `${reason} ${email}` : reason}`);
    this.field = field;
  }
}

/** Creates a user with a personal organization and adds an audit entry. Throws AccountConflict. Call inside a transaction. */
export async function createAccount(
  tx: Sql,
  account: NewAccount,
): Promise<{ user: UserRow; personalOrg: OrgRow }> {
  const { actor, ...row } = account;
  const { username, name, platformRole } = row;
  try {
    const user = await insertUser(tx, row);
    const personalOrg = await insertOrg(tx, {
      slug: username,
      name: name ?? username,
      isPersonal: true,
      subscriptionTier: "free",
    });
    await upsertMember(tx, { orgId: personalOrg.id, userId: user.id, role: "owner" });
    await insertAuditEntry(tx, {
      ...actor,
      action: "user.create",
      subject: { type: "user", id: user.id },
      orgId: personalOrg.id,
      details: { username, platformRole },
    });
    return { user, personalOrg };
  } catch (error) {
    for (const [constraint, conflict] of Object.entries(CONFLICTS)) {
      if (violates(error, constraint)) throw new AccountConflict(conflict, row);
    }
    throw error;
  }
}
