/** Mails to owners about the deletion of their organization. */
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findOrgById } from "../../sql/accounts/orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { inWords, type MailContent, orgUrl, subjectName } from "../compose_mail.ts";
import { holdMailOfDatabaseCopy } from "../hold_mail_of_database_copy.ts";
import { findNoticeRecipient, type WriteAccountMail } from "./account_mail_scope.ts";

/** The details of the mail. The row contains all of them, because the organization may be gone when the mail is sent. */
interface Notice {
  about: string;
  /** The username of the person who deleted or restored the organization; null for an operator. */
  by: string | null;
  name: string;
  slug: string;
  /** The time of the deletion; set only in a notice of a scheduled deletion. */
  deletesAt?: string;
}

type NoticeText = (
  notice: Notice,
  orgPage: string,
) => Omit<MailContent, "facts" | "notes"> & { notes?: MailContent["notes"] };

const NOTICES: Readonly<Record<string, NoticeText>> = {
  deletion_scheduled: (notice, orgPage) => ({
    subject: `${subjectName(notice.name)} will be deleted`,
    intro: [
      [who(notice), " deleted the organization ", { name: notice.name }, "."],
      `It keeps working until ${inWords(String(notice.deletesAt))}. After that, its members, keys, webhooks and drafts are deleted, and its projects and exports can no longer be reached. Until then, any owner can restore it:`,
    ],
    button: { label: "Restore the organization", url: `${orgPage}/end` },
    notes: ["If this is intended, you do not need to do anything."],
  }),
  restored: (notice, orgPage) => ({
    subject: `${subjectName(notice.name)} will not be deleted`,
    intro: [[who(notice), " restored the organization ", { name: notice.name }, ". Nothing was deleted."]],
    button: { label: "Open the organization", url: orgPage },
  }),
  deleted: (notice) => ({
    subject: `${subjectName(notice.name)} has been deleted`,
    intro: [
      [
        "The organization ",
        { name: notice.name },
        " has been deleted, as scheduled. It can no longer be restored.",
      ],
      "Its published definitions stay available and are marked as deprecated.",
    ],
  }),
};

function who({ by }: Notice): { name: string } | string {
  return by === null ? "An operator" : { name: by };
}

/** Returns whether the notice still matches the organization. Mails arrive in any order, and people believe the last one. */
async function isStillTrue(sql: Sql, { orgId }: AccountMailRow, notice: Notice): Promise<boolean> {
  if (notice.about === "deleted") return true;
  const org = orgId === null ? null : await findOrgById(sql, orgId);
  return org !== null && org.deletesAt === (notice.deletesAt ?? null);
}

export const writeDeletionNotice: WriteAccountMail = async ({ sql, publicUrl, mail }) => {
  await holdMailOfDatabaseCopy(sql);
  // Does not check the role, because a deleted organization has no owners.
  const user = await findNoticeRecipient(sql, mail);
  const notice = mail.details as unknown as Notice;
  if (!user || !(await isStillTrue(sql, mail, notice))) return null;
  const write = NOTICES[notice.about];
  if (!write) throw new Error(`Cannot write a notice: this release does not know "${notice.about}"`);
  const { notes = [], ...said } = write(notice, orgUrl(publicUrl, notice.slug));
  return {
    ...said,
    to: user.email,
    facts: [
      ["Organization", notice.slug],
      ["When", inWords(mail.createdAt)],
    ],
    notes: [...notes, "You are receiving this email because you own this organization."],
  };
};
