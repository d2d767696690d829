/** Mails about changes of an organization's members: to its owners, and to the member concerned. */
import type { OrgRole } from "../../shared/vocabulary.ts";
import { findOrgById } from "../../sql/accounts/orgs.ts";
import { inWords, type MailText, orgUrl, subjectName } from "../compose_mail.ts";
import { findNoticeRecipient, type WriteAccountMail } from "./account_mail_scope.ts";

/** The details of the mail, as `listNotices` writes them in api/accounts/members/member_changes.ts. */
interface News {
  member: string;
  /** The username of the person who made the change; null for an operator. */
  actor: string | null;
  from: string | null;
  to: OrgRole | null;
  /** The inviter's username. Rows of earlier releases lack this field. */
  invitedBy?: string | null;
}

/** Writes the mail that notifies an owner of a change of owners or admins. */
export const writeOrganizationNotice: WriteAccountMail = async ({ sql, mail, publicUrl }) => {
  const org = mail.orgId === null ? null : await findOrgById(sql, mail.orgId);
  const owner = await findNoticeRecipient(sql, mail, { role: "owner" });
  if (!org || !owner) return null;
  const news = mail.details as unknown as News;
  const { member, actor, from, to, invitedBy = null } = news;
  return {
    to: owner.email,
    subject: `${subjectOf(news)} ${subjectName(org.name)}`,
    intro: [describe(news, org.name)],
    button: { label: "See the members", url: `${orgUrl(publicUrl, org.slug)}/members` },
    facts: [
      ["Member", member],
      ["Old role", from ?? "none"],
      ["New role", to ?? "none"],
      ["Done by", actor ?? "an operator of this service"],
      ...(invitedBy === null ? [] : [["Invited by", invitedBy] as const]),
      ["When", inWords(mail.createdAt)],
    ],
    notes: [
      "You are receiving this email because you own the organization.",
      "If this should not have happened, change it on the members page, and check the audit log for other changes.",
    ],
  };
};

function describe({ member, actor, from, to }: News, orgName: string): MailText {
  const who = { name: member };
  const org = { name: orgName };
  const by = { name: actor ?? "An operator of this service" };
  if (from === null) return [who, " joined the organization ", org, ` as ${to}.`];
  if (to !== null) {
    const change = ` from ${from} to ${to}.`;
    return [by, " changed the role of ", who, " in the organization ", org, change];
  }
  const role = `. Their role was ${from}.`;
  if (actor === member) return [who, " has left the organization ", org, role];
  return [by, " removed ", who, " from the organization ", org, role];
}

/** Writes the mail that notifies a member of a new role or of their removal. */
export const writeMembershipNotice: WriteAccountMail = async ({ sql, mail, publicUrl }) => {
  const org = mail.orgId === null ? null : await findOrgById(sql, mail.orgId);
  const { actor, from, to } = mail.details as unknown as News;
  // Mails arrive in any order. A notice of an earlier change must not arrive last.
  const user = await findNoticeRecipient(sql, mail, { role: to });
  if (!org || !user) return null;
  const organization = { name: org.name };
  const by = { name: actor ?? "An operator of this service" };
  const when = ["When", inWords(mail.createdAt)] as const;
  if (to === null) {
    return {
      to: user.email,
      subject: `You are no longer a member of ${subjectName(org.name)}`,
      intro: [[by, " removed you from the organization ", organization, "."]],
      facts: [["Your role was", from ?? "none"], when],
      notes: [
        "Your account and your other organizations stay as they are. API keys for this organization no longer work.",
        "If you think this is a mistake, contact an owner of the organization.",
      ],
    };
  }
  return {
    to: user.email,
    subject: `Your role in ${subjectName(org.name)} is now ${to}`,
    intro: [[by, " changed your role in the organization ", organization, ` from ${from} to ${to}.`]],
    button: { label: "Open the organization", url: orgUrl(publicUrl, org.slug) },
    facts: [["Old role", from ?? "none"], ["New role", to], when],
    notes: [
      "You are receiving this email because your role changed. An owner of the organization can change it again.",
    ],
  };
};

function subjectOf({ member, from, to }: Pick<News, "member" | "from" | "to">): string {
  if (to === null) return `${member} is no longer ${from} of`;
  return from === null ? `${member} joined as ${to}:` : `${member} is now ${to} of`;
}
