/** Mails to owners about the end of their organization. */
import { inWords, type MailText, subjectName } from "../compose_mail.ts";
import { requireOriginal } from "../require_original.ts";
import type { AccountMailContent, WriteAccountMail } from "./account_mail_scope.ts";
import { findNoticeRecipient } from "./notice_recipient.ts";

/** What a notice is about. All of it is in the row: the organization may be gone when the mail is sent. */
interface Notice {
  /** Who did it; null for an operator. */
  by: string | null;
  name: string;
  slug: string;
  details: Readonly<Record<string, unknown>>;
}

type NoticeText = (notice: Notice) => Pick<AccountMailContent, "subject" | "intro"> & {
  button?: { label: string; path: string };
  notes?: readonly MailText[];
};

const NOTICES: Readonly<Record<string, NoticeText>> = {
  deletion_scheduled: (notice) => ({
    subject: `${subjectName(notice.name)} will be deleted`,
    intro: [
      [who(notice), " deleted the organization ", { name: notice.name }, "."],
      `It keeps working until ${inWords(String(notice.details["deletesAt"]))}. After that, its members, keys, webhooks and drafts are deleted, and its projects and exports can no longer be reached. Until then, any owner can restore it:`,
    ],
    button: { label: "Restore the organization", path: "/end" },
    notes: ["If this is intended, you do not need to do anything."],
  }),
  restored: (notice) => ({
    subject: `${subjectName(notice.name)} will not be deleted`,
    intro: [[who(notice), " restored the organization ", { name: notice.name }, ". Nothing was deleted."]],
    button: { label: "Open the organization", path: "" },
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

export const writeDeletionNotice: WriteAccountMail = async ({ sql, publicUrl, mail }) => {
  await requireOriginal(sql);
  // When it is gone, it has no owners.
  const user = await findNoticeRecipient(sql, mail, { mustBe: null });
  if (!user) return null;
  const { about, by, name, slug } = mail.details;
  const write = NOTICES[String(about)];
  if (!write) throw new Error(`Cannot write a notice: this release does not know "${about}"`);
  const {
    button,
    notes = [],
    ...said
  } = write({
    ...{ by: by === null ? null : String(by), name: String(name), slug: String(slug) },
    details: mail.details,
  });
  return {
    ...said,
    to: user.email,
    ...(button && {
      button: {
        label: button.label,
        url: `${publicUrl}/orgs/${encodeURIComponent(String(slug))}${button.path}`,
      },
    }),
    facts: [
      ["Organization", String(slug)],
      ["When", inWords(mail.createdAt)],
    ],
    notes: [...notes, "You are receiving this email because you own this organization."],
  };
};
