/** What each mail about an account or an organization says, and to whom it goes. Each kind is one function. */
import type { AccountMailKind } from "../../shared/account_mails.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findUserByEmail } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { inWords, type MailContent, type MailFacts } from "../compose_mail.ts";

export interface AccountMailScope {
  sql: Sql;
  /** Without a trailing slash. */
  publicUrl: string;
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
export type AccountMailContent = MailContent & {
  /** The recipient, if it is not the address of the row. */
  to?: string;
};

/** Looks up what the mail is about and writes it; null if nothing is to be sent. */
type WriteAccountMail = (scope: AccountMailScope) => Promise<AccountMailContent | null>;

export const WRITE_ACCOUNT_MAIL: { readonly [Kind in AccountMailKind]: WriteAccountMail } = {
  password_reset: writePasswordReset,
};

/** The request does not look for the account, so that nobody learns whether there is one. */
async function writePasswordReset({
  sql,
  mail,
  makeLink,
}: AccountMailScope): Promise<AccountMailContent | null> {
  const user = await findUserByEmail(sql, mail.email);
  if (!user || user.disabledAt !== null) return null;
  const link = await makeLink(user.id);
  if (!link) return null;
  return {
    to: user.email,
    subject: "Choose a new password",
    intro: [
      ["Somebody asked for a new password for your account ", { name: user.username }, "."],
      "Was it you? Then choose one on this page:",
    ],
    button: { label: "Choose a new password", url: link.url },
    facts: requestFacts(mail, link),
    notes: [
      "The link works once. When you ask for another one, this one stops working.",
      "Was it not you? Then do nothing: your password stays as it is. Only somebody who reads this mail can change it.",
    ],
  };
}

/** Says when and from where a mail was asked for, and until when its link works. */
function requestFacts(mail: AccountMailRow, link: AccountMailLink | null): MailFacts {
  return [
    ["Requested", inWords(mail.createdAt)],
    ...(mail.network === null ? [] : [["From the address", mail.network] as const]),
    ...(link ? [["Link works until", inWords(link.expiresAt)] as const] : []),
  ];
}
