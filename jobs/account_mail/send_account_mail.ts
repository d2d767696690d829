/** Job `send_account_mail`: sends a mail about an account or an organization, with a new link if the mail needs one. */
import { ACCOUNT_MAILS, type AccountMailPolicy, mintLinkToken } from "../../shared/account_mail_kinds.ts";
import type { JobPayloads } from "../../shared/background_jobs.ts";
import {
  type AccountMailRow,
  findUnsentAccountMail,
  markAccountMailSent,
  markAccountMailSkipped,
  updateAccountMailLink,
} from "../../sql/accounts/account_mails.ts";
import { retryOnDatabaseFault } from "../../sql/connection/database_fault.ts";
import { composeMail } from "../compose_mail.ts";
import { type MailMessage, sendMail } from "../mailer.ts";
import type { RunnerDeps } from "../runner_deps.ts";
import type { AccountMailLink } from "./account_mail_scope.ts";
import { WRITE_ACCOUNT_MAIL } from "./write_account_mail.ts";

/**
 * Sends the mail, unless it was sent before or is obsolete. Throws if the queue should retry. Each attempt stores the hash of
 * a new token before it sends the mail. After any crash, the link in the newest mail works. `signal` aborts an attempt that
 * the queue has given to another runner, so that it cannot send a replaced link.
 */
export async function sendAccountMail(
  deps: RunnerDeps,
  { accountMailId: id }: JobPayloads["send_account_mail"],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const mail = await findUnsentAccountMail(deps.sql, id);
  const log = deps.log.child({ accountMailId: id, ...(mail ? { kind: mail.kind } : {}) });
  const message = mail && (await compose(deps, mail));
  if (!message) {
    const isSkipped = await markAccountMailSkipped(deps.sql, { id, details: mail?.details });
    // The row now belongs to a newer invitation.
    if (mail && !isSkipped) throw new Error("Cannot skip the mail: it has changed. The queue tries again.");
    log.info({ event: "account_mail.skipped" }, "the mail is not wanted, or no longer");
    return;
  }
  const sending = { event: "account_mail", signal: AbortSignal.any([signal, deps.shutdownSignal]) };
  if (!(await sendMail({ ...deps, log }, message, sending))) return;
  await retryOnDatabaseFault(() => markAccountMailSent(deps.sql, id), deps.shutdownSignal);
}

async function compose(
  { sql, config: { publicUrl, signUp } }: RunnerDeps,
  mail: AccountMailRow,
): Promise<MailMessage | null> {
  const write = WRITE_ACCOUNT_MAIL[mail.kind];
  // During a deployment, a process of the next release may have queued the mail. A runner of that release can send it.
  if (!write) throw new Error(`Cannot send a mail of the kind "${mail.kind}": this release does not know it`);
  let attempt: string | null = null;
  const makeLink = async (userId?: string): Promise<AccountMailLink | null> => {
    const { link }: AccountMailPolicy = ACCOUNT_MAILS[mail.kind];
    if (!link) throw new Error(`Cannot make a link: mails of the kind "${mail.kind}" have none`);
    const { token, tokenHash } = mintLinkToken();
    const stored = { id: mail.id, tokenHash, minutes: link.minutes, userId: userId ?? null };
    const expiresAt = await updateAccountMailLink(sql, stored);
    attempt = crypto.randomUUID();
    return expiresAt === null ? null : { url: `${publicUrl}${link.page}?token=${token}`, expiresAt };
  };
  const content = await write({ sql, publicUrl, signUp, mail, makeLink });
  if (!content) return null;
  const { to = mail.email, ...said } = content;
  // Mailboxes show only one of several mails with the same id. Mails with different links therefore have different ids.
  return { id: attempt === null ? mail.id : `${mail.id}.${attempt}`, to, ...composeMail(said) };
}
