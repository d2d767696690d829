/** The content and recipient of each mail about an account or an organization. Each kind of mail is one function. */
import type { AccountMailKind } from "../../shared/account_mail_kinds.ts";
import type { OrgRole } from "../../shared/vocabulary.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findMailedInvitation } from "../../sql/accounts/invitations.ts";
import { findUserByEmail } from "../../sql/accounts/users.ts";
import { inWords, type MailFacts, subjectName, withoutLinks } from "../compose_mail.ts";
import type { AccountMailLink, WriteAccountMail } from "./account_mail_scope.ts";
import { writeDeletionNotice } from "./deletion_notice.ts";
import { writeFactorNotice } from "./factor_notice.ts";
import { writeMembershipNotice, writeOrganizationNotice } from "./organization_notice.ts";

/** The roles, as an invitation describes them. */
const ROLES: Readonly<Record<OrgRole, string>> = {
  viewer: "a viewer. Viewers read its definitions and export data from its projects",
  publisher: "a publisher. Publishers also create and publish definitions, and export whole projects",
  admin: "an admin. Admins also invite members and manage projects and webhooks",
  owner: "an owner. Owners control everything in it",
};

export const WRITE_ACCOUNT_MAIL: { readonly [Kind in AccountMailKind]: WriteAccountMail } = {
  factor_notice: writeFactorNotice,
  organization_notice: writeOrganizationNotice,
  deletion_notice: writeDeletionNotice,
  membership_notice: writeMembershipNotice,
  removal_notice: writeMembershipNotice,

  /** Names the inviter and the organization. Returns null if the invitation is no longer pending. */
  async invitation({ sql, signUp, mail, makeLink }) {
    const offer = await findMailedInvitation(sql, mail.id);
    const link = offer && (await makeLink());
    if (!offer || !link) return null;
    const { role, email, expiresAt } = offer;
    const [invitedBy, orgSlug, orgName] = [
      withoutLinks(offer.invitedBy),
      withoutLinks(offer.orgSlug),
      withoutLinks(offer.orgName),
    ];
    return {
      subject: `${invitedBy} invites you to ${subjectName(orgName)}`,
      intro: [
        [{ name: invitedBy }, " invites you to the organization ", { name: orgName }, "."],
        `You would join as ${ROLES[role]}.`,
      ],
      button: { label: "Open the invitation", url: link.url },
      facts: [
        ["Organization", `${orgName} (${orgSlug})`],
        ["Role", role],
        ["Invited by", invitedBy],
        ["Email", email],
        ["Expires", inWords(expiresAt)],
      ],
      notes: [
        `The link works once, and only for an account with the address ${email}. ${
          signUp === "off"
            ? "Sign in when you open it. If you have no account, ask an operator of this service for one."
            : "You can sign in or sign up when you open it."
        }`,
        "If you were not expecting this, ignore this email. You do not join unless you accept.",
      ],
    };
  },

  /** The account is looked up here, not in the request, so that responses do not reveal whether it exists. */
  async password_reset({ sql, mail, makeLink }) {
    const user = await findUserByEmail(sql, mail.email);
    if (!user || user.disabledAt !== null) return null;
    const link = await makeLink(user.id);
    if (!link) return null;
    return {
      to: user.email,
      subject: "Choose a new password",
      intro: [
        ["Someone requested a new password for your account ", { name: user.username }, "."],
        "If this was you, choose a new password here:",
      ],
      button: { label: "Choose a new password", url: link.url },
      facts: requestFacts(mail, link),
      notes: [
        "The link works once. Requesting a new link makes this one stop working.",
        "If this was not you, ignore this email. Your password has not changed, and only someone who can read this email can change it.",
      ],
    };
  },

  /**
   * Reveals only to the owner of the address whether it has an account. The request has decided whether the address may sign
   * up.
   */
  async sign_up({ sql, publicUrl, mail, makeLink }) {
    const user = await findUserByEmail(sql, mail.email);
    if (user) {
      return {
        subject: "You already have an account",
        intro: [
          [
            "Someone tried to sign up with this address, but it already has an account: ",
            { name: user.username },
            ".",
          ],
          "If you forgot your password, choose a new one:",
        ],
        button: { label: "Choose a new password", url: `${publicUrl}/forgot-password` },
        facts: requestFacts(mail, null),
        notes: [
          "If this was not you, ignore this email. No new account was created, and yours has not changed.",
        ],
      };
    }
    const link = mail.details["isAdmitted"] === true ? await makeLink() : null;
    if (!link) return null;
    return {
      subject: "Confirm your account",
      intro: [
        [
          "Someone signed up with this address as ",
          { name: withoutLinks(String(mail.details["username"])) },
          ".",
        ],
        "If this was you, create your account here:",
      ],
      button: { label: "Create account", url: link.url },
      facts: requestFacts(mail, link),
      notes: [
        "The link works once. Signing up again makes it stop working.",
        "If this was not you, ignore this email, or use the link and choose your own username and password. No account is created without this link.",
      ],
    };
  },

  /** Goes to the new address. Only the owner of that address learns whether another account uses it. */
  async email_change({ sql, mail, makeLink }) {
    const owner = await findUserByEmail(sql, mail.email);
    const username = withoutLinks(String(mail.details["username"]));
    if (owner && owner.id !== mail.userId) {
      return {
        subject: "This address already has an account",
        intro: [
          ["The user ", { name: username }, " wants to use this address for their account."],
          ["That is not possible, because another account already uses it: ", { name: owner.username }, "."],
        ],
        facts: requestFacts(mail, null),
        notes: ["If this was not you, ignore this email. Your account has not changed."],
      };
    }
    const link = await makeLink();
    if (!link) return null;
    return {
      subject: "Confirm your new email address",
      intro: [
        ["The user ", { name: username }, " wants to use this address for their account."],
        "If this is you, confirm the address here:",
      ],
      button: { label: "Confirm address", url: link.url },
      facts: requestFacts(mail, link),
      notes: ["If this is not you, ignore this email. The address is not used without this link."],
    };
  },

  /** Goes to the old address when a change is requested. */
  async email_change_requested({ publicUrl, mail }) {
    return {
      subject: "Your email address is about to change",
      intro: [
        [
          "Someone who knows your password asked to change the email address of your account ",
          { name: String(mail.details["username"]) },
          ".",
        ],
        ["Once they confirm it, you sign in with ", { name: String(mail.details["newEmail"]) }, "."],
      ],
      facts: [["Requested", inWords(mail.createdAt)]],
      notes: [
        `If this was not you, reset your password now to stop the change: ${publicUrl}/forgot-password`,
      ],
    };
  },

  /** Goes to the old address when the change has taken effect. */
  async email_changed({ mail }) {
    return {
      subject: "Your email address has changed",
      intro: [
        [
          "Your account ",
          { name: String(mail.details["username"]) },
          " has a new email address: ",
          { name: String(mail.details["newEmail"]) },
          ".",
        ],
        "From now on, you sign in with it, and emails about your account go there.",
      ],
      facts: [["Changed", inWords(mail.createdAt)]],
      notes: ["If this was not you, contact an operator of this service or an owner of your organization."],
    };
  },
};

/** Returns the time and network of the request, and the expiry of the link. */
function requestFacts(mail: AccountMailRow, link: AccountMailLink | null): MailFacts {
  return [
    ["Requested", inWords(mail.createdAt)],
    ...(mail.network === null ? [] : [["Network", mail.network] as const]),
    ...(link ? [["Link expires", inWords(link.expiresAt)] as const] : []),
  ];
}
