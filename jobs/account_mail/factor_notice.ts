/** Mails about second factors: changes, used recovery codes, and failed attempts. */
import type { FactorNotice } from "../../shared/account_mail_kinds.ts";
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findUser } from "../../sql/accounts/users.ts";
import { inWords, type MailContent, type MailText } from "../compose_mail.ts";
import type { WriteAccountMail } from "./account_mail_scope.ts";

const CHANGE_PASSWORD =
  "If this was not you, change your password now, and check your second factors and sessions.";
/** The other person may already be signed in, because codes are also entered within a session. */
const SOMEONE_TRIES =
  "If this was you, ignore this email. If not, someone knows your password or uses one of your sessions. Change your password now, which ends your other sessions.";

/**
 * Writes the notice. The user is found by id, because the account may have a new address by now. The notice goes to the old
 * address.
 */
export const writeFactorNotice: WriteAccountMail = async ({ sql, publicUrl, mail }) => {
  const user = mail.userId === null ? null : await findUser(sql, mail.userId);
  if (!user) return null;
  const { subject, intro, note } = describe(mail.details as unknown as FactorNotice);
  return {
    subject,
    intro: [["This is about your account ", { name: user.username }, "."], ...intro],
    button: { label: "Your second factors", url: `${publicUrl}/settings/second-factor` },
    facts: factsOf(mail),
    notes: [note],
  };
};

function factsOf({ createdAt, network }: AccountMailRow): NonNullable<MailContent["facts"]> {
  return [["Time", inWords(createdAt)], ...(network === null ? [] : [["Network", network] as const])];
}

function describe(notice: FactorNotice): { subject: string; intro: MailText[]; note: string } {
  switch (notice.event) {
    case "added":
      return {
        subject: "A second factor was added",
        intro: [
          ["The second factor ", { name: notice.name }, " was added. Your other sessions have ended."],
          "Keep your recovery codes somewhere you can reach without your devices.",
        ],
        note: CHANGE_PASSWORD,
      };
    case "removed":
      return {
        subject: "A second factor was removed",
        intro: [
          ["The second factor ", { name: notice.name }, " was removed. Your other sessions have ended."],
          ...(notice.isLast ? ["It was the last one: your password alone is now enough to sign in."] : []),
        ],
        note: CHANGE_PASSWORD,
      };
    case "reset":
      return {
        subject: "Your second factors were removed",
        intro: [
          "An operator removed your second factors and recovery codes and ended your sessions.",
          "Your password alone is now enough to sign in. Add a second factor again.",
        ],
        note: "If you did not ask for this, contact an operator of this service.",
      };
    case "codes_renewed":
      return {
        subject: "Your recovery codes were replaced",
        intro: ["You have ten new recovery codes. The old ones no longer work."],
        note: CHANGE_PASSWORD,
      };
    case "code_used":
      return {
        subject: "A recovery code was used",
        intro: [`Someone used a recovery code instead of a second factor. ${countLeft(notice.codesLeft)}`],
        note: CHANGE_PASSWORD,
      };
    case "guessed":
      return {
        subject: "Wrong codes for your account",
        intro: [
          "Someone entered 20 wrong codes for your account within a day.",
          "We do not accept codes from your authenticator app for the rest of that day. Use a passkey or a recovery code.",
        ],
        note: SOMEONE_TRIES,
      };
    case "copied":
      return {
        subject: "A copy of your passkey was used",
        intro: [
          "Someone used a passkey of your account whose counter was wrong. The passkey may have been copied.",
          "We did not accept it. Remove that passkey and add a new one.",
        ],
        note: SOMEONE_TRIES,
      };
  }
}

function countLeft(codesLeft: number): string {
  if (codesLeft === 0) return "None are left. Replace your codes.";
  return codesLeft === 1 ? "One is left." : `${codesLeft} are left.`;
}
