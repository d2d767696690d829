/** What each mail about an account or an organization says, and to whom it goes. Each kind is one function. */
import type { AccountMailKind } from "../../shared/account_mails.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findUserByEmail } from "../../sql/accounts/users.ts";
import { inWords, type MailFacts } from "../compose_mail.ts";
import type { AccountMailContent, AccountMailLink, AccountMailScope } from "./account_mail_scope.ts";
import { writeDeletionNotice } from "./deletion_notice.ts";
import { writeFactorNotice } from "./factor_notice.ts";
import { writeInvitation } from "./invitation.ts";
import { writeMembershipNotice, writeOrganizationNotice } from "./organization_notice.ts";

/** Looks up what the mail is about and writes it; null if nothing is to be sent. */
type WriteAccountMail = (scope: AccountMailScope) => Promise<AccountMailContent | null>;

export const WRITE_ACCOUNT_MAIL: { readonly [Kind in AccountMailKind]: WriteAccountMail } = {
  factor_notice: writeFactorNotice,
  password_reset: writePasswordReset,
  sign_up: writeSignUp,
  invitation: writeInvitation,
  organization_notice: writeOrganizationNotice,
  deletion_notice: writeDeletionNotice,
  membership_notice: writeMembershipNotice,
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

/** Tells the owner of the address alone whether it has an account. The request has decided whether it may get one. */
async function writeSignUp({
  sql,
  publicUrl,
  mail,
  makeLink,
}: AccountMailScope): Promise<AccountMailContent | null> {
  const user = await findUserByEmail(sql, mail.email);
  if (user) {
    return {
      subject: "You already have an account",
      intro: [
        [
          "Somebody signed up with this address, which has an account already: ",
          { name: user.username },
          ".",
        ],
        "Have you forgotten your password? Then choose a new one:",
      ],
      button: { label: "Choose a new password", url: `${publicUrl}/forgot-password` },
      facts: requestFacts(mail, null),
      notes: ["Was it not you? Then do nothing: no account was made, and yours stays as it is."],
    };
  }
  const link = mail.details["isAdmitted"] === true ? await makeLink() : null;
  if (!link) return null;
  return {
    subject: "Confirm your account",
    intro: [
      ["Somebody signed up with this address, as ", { name: String(mail.details["username"]) }, "."],
      "Was it you? Then make your account on this page:",
    ],
    button: { label: "Make my account", url: link.url },
    facts: requestFacts(mail, link),
    notes: [
      "The link works once. When you sign up again, it stops working.",
      "Was it not you? Then do nothing: no account is made without this link.",
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
