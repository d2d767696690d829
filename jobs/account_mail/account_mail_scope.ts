/** What the functions that write account mails get and return, and who gets a notice. */
import type { Config } from "../../shared/process/config.ts";
import type { OrgRole } from "../../shared/vocabulary.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findMembership } from "../../sql/accounts/organization_members.ts";
import { findUser, type UserRow } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { MailContent } from "../compose_mail.ts";

export interface AccountMailScope {
  sql: Sql;
  /** Without a trailing slash. */
  publicUrl: string;
  signUp: Config["signUp"];
  mail: AccountMailRow;
  /**
   * Makes the link of the mail and stores the hash of its token. `userId` is the account that the link is for, if the
   * request did not know it. Null if the mail is no longer wanted.
   */
  makeLink(userId?: string): Promise<AccountMailLink | null>;
}

export interface AccountMailLink {
  url: string;
  expiresAt: string;
}

/** A mail to the person that the row names, who may or may not have an account. */
type AccountMailContent = MailContent & {
  /** The recipient, if it is not the address of the row. */
  to?: string;
};

/** Looks up what a mail is about and writes it; null if nothing is to be sent. */
export type WriteAccountMail = (scope: AccountMailScope) => Promise<AccountMailContent | null>;

/**
 * Returns the user whom a notice is for, with the current address. Null if the account is disabled, or if the user no longer has
 * the role that the notice is about. A role of null means no member.
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
