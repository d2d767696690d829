/** Inputs and results of the functions that write account mails, and the lookup of a notice's recipient. */
import type { Config } from "../../shared/process/config.ts";
import type { OrgRole } from "../../shared/vocabulary.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findMembership } from "../../sql/accounts/organization_members.ts";
import { findUser, type UserRow } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { MailContent } from "../compose_mail.ts";

export interface AccountMailScope {
  sql: Sql;
  /** The base URL of the service, without a trailing slash. */
  publicUrl: string;
  signUp: Config["signUp"];
  mail: AccountMailRow;
  /**
   * Creates the mail's link and stores the hash of its token. Pass `userId` if the request did not know the account. Returns
   * null if the mail is no longer wanted.
   */
  makeLink(userId?: string): Promise<AccountMailLink | null>;
}

export interface AccountMailLink {
  url: string;
  expiresAt: string;
}

/** The content of an account mail. Its recipient may have no account. */
type AccountMailContent = MailContent & {
  /** The recipient's address, if it differs from the row's address. */
  to?: string;
};

/** Looks up the data of a mail and writes the content. Returns null if there is no mail to send. */
export type WriteAccountMail = (scope: AccountMailScope) => Promise<AccountMailContent | null>;

/**
 * Returns the recipient of a notice, with their current address. Null if the account is missing or disabled, or if the user's
 * role differs from `role`. A `role` of null stands for a user who is not a member.
 */
export async function findNoticeRecipient(
  sql: Sql,
  { userId, orgId }: AccountMailRow,
  { role }: { role?: OrgRole | null } = {},
): Promise<UserRow | null> {
  const user = userId === null ? null : await findUser(sql, userId);
  if (!user || user.disabledAt !== null) return null;
  if (role === undefined) return user;
  const membership = orgId === null ? null : await findMembership(sql, { userId: user.id, orgId });
  return (membership?.role ?? null) === role ? user : null;
}
