/** What each mail about an account or an organization says, and to whom it goes. Each kind is one function. */
import type { AccountMailKind } from "../../shared/account_mails.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findUserByEmail } from "../../sql/accounts/users.ts";
import { inWords, type MailFacts, withoutLinks } from "../compose_mail.ts";
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
  email_change: writeEmailChange,
  email_change_requested: writeEmailChangeRequested,
  email_changed: writeEmailChanged,
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
      [
        "Somebody signed up with this address, as ",
        { name: withoutLinks(String(mail.details["username"])) },
        ".",
      ],
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

/** Goes to the new address, and tells its owner alone whether another account has it. */
async function writeEmailChange({
  sql,
  mail,
  makeLink,
}: AccountMailScope): Promise<AccountMailContent | null> {
  const owner = await findUserByEmail(sql, mail.email);
  const username = withoutLinks(String(mail.details["username"]));
  if (owner && owner.id !== mail.userId) {
    return {
      subject: "This address already has an account",
      intro: [
        ["The user ", { name: username }, " wants this address for their account."],
        ["It cannot be used, because another account has it: ", { name: owner.username }, "."],
      ],
      facts: requestFacts(mail, null),
      notes: ["Do you know nothing of this? Then do nothing: your account stays as it is."],
    };
  }
  const link = await makeLink();
  if (!link) return null;
  return {
    subject: "Confirm your new address",
    intro: [
      ["The user ", { name: username }, " wants this address for their account."],
      "Is it you? Then confirm it on this page:",
    ],
    button: { label: "Confirm the address", url: link.url },
    facts: requestFacts(mail, link),
    notes: ["Is it not you? Then do nothing: without this link, the address is not used."],
  };
}

/** Goes to the old address when a change is asked for. */
async function writeEmailChangeRequested({ publicUrl, mail }: AccountMailScope): Promise<AccountMailContent> {
  return {
    subject: "Your address is about to change",
    intro: [
      [
        "Somebody who knows your password wants another address for your account ",
        { name: String(mail.details["username"]) },
        ".",
      ],
      ["When they confirm it, you sign in with ", { name: String(mail.details["newEmail"]) }, "."],
    ],
    facts: [["Requested", inWords(mail.createdAt)]],
    notes: [
      `Was it not you? Then choose a new password at once, which stops the change: ${publicUrl}/forgot-password`,
    ],
  };
}

/** Goes to the old address when the change has taken effect. */
async function writeEmailChanged({ mail }: AccountMailScope): Promise<AccountMailContent> {
  return {
    subject: "Your address has changed",
    intro: [
      [
        "Your account ",
        { name: String(mail.details["username"]) },
        " has a new address: ",
        { name: String(mail.details["newEmail"]) },
        ".",
      ],
      "From now on, mails about it go there, and you sign in with it.",
    ],
    facts: [["Changed", inWords(mail.createdAt)]],
    notes: [
      "Was it not you? Then ask an operator of the service or the owner of your organization for help.",
    ],
  };
}

/** Says when and from where a mail was asked for, and until when its link works. */
function requestFacts(mail: AccountMailRow, link: AccountMailLink | null): MailFacts {
  return [
    ["Requested", inWords(mail.createdAt)],
    ...(mail.network === null ? [] : [["From the network", mail.network] as const]),
    ...(link ? [["Link works until", inWords(link.expiresAt)] as const] : []),
  ];
}
