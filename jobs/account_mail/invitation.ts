/** The mail with an invitation to an organization. */
import type { OrgRole } from "../../shared/vocabulary.ts";
import { findPendingInvitation } from "../../sql/accounts/invitations.ts";
import { inWords, subjectName, withoutLinks } from "../compose_mail.ts";
import type { WriteAccountMail } from "./account_mail_scope.ts";

const ROLES: Readonly<Record<OrgRole, string>> = {
  viewer: "a viewer. Viewers read its definitions and export data from its projects",
  publisher: "a publisher. Publishers also create and publish definitions, and export whole projects",
  admin: "an admin. Admins also invite members and manage projects and webhooks",
  owner: "an owner. Owners control everything in it",
};

/** Says who invites whom. Null if the invitation is no longer pending. */
export const writeInvitation: WriteAccountMail = async ({ sql, mail, makeLink }) => {
  const offer = await findPendingInvitation(sql, String(mail.details["invitationId"]));
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
      `The link works once, and only for an account with the address ${email}. You can sign in or sign up when you open it.`,
      "If you were not expecting this, ignore this email. You do not join unless you accept.",
    ],
  };
};
