/** Job `send_webhook_disabled`: mails the organization's owner that a webhook was disabled. */
import type { JobPayloads } from "../../shared/background_jobs.ts";
import { listOwners } from "../../sql/accounts/organization_members.ts";
import { findOrgById } from "../../sql/accounts/orgs.ts";
import { findAnyWebhook } from "../../sql/webhooks/webhooks.ts";
import { composeMail, inWords, orgUrl, subjectName } from "../compose_mail.ts";
import { holdMailOfDatabaseCopy } from "../hold_mail_of_database_copy.ts";
import { type MailMessage, sendMail } from "../mailer.ts";
import type { RunnerDeps } from "../runner_deps.ts";

/** Sends the mail, unless the webhook was deleted or has been enabled since. May send the mail twice, with the same Message-ID. */
export async function sendWebhookDisabled(
  deps: RunnerDeps,
  payload: JobPayloads["send_webhook_disabled"],
): Promise<void> {
  await deps.owner.require();
  await holdMailOfDatabaseCopy(deps.sql);
  const message = await compose(deps, payload);
  const log = deps.log.child({ webhookId: payload.webhookId });
  if (message)
    await sendMail({ ...deps, log }, message, { event: "webhook_mail", signal: deps.shutdownSignal });
  else log.info({ event: "webhook_mail.skipped" }, "the mail is no longer wanted");
}

async function compose(
  { sql, config }: RunnerDeps,
  { webhookId, disabledAt, origin }: JobPayloads["send_webhook_disabled"],
): Promise<MailMessage | null> {
  const webhook = await findAnyWebhook(sql, webhookId);
  if (!webhook?.disabledAt) return null;
  // The webhook has been enabled and disabled again since.
  if (disabledAt !== undefined && disabledAt !== webhook.disabledAt) return null;
  const org = await findOrgById(sql, webhook.orgId);
  const [owner] = await listOwners(sql, webhook.orgId);
  if (!org || !owner) return null;
  const content = composeMail({
    subject: `A webhook of ${subjectName(org.name)} is disabled`,
    intro: [
      [
        "A webhook of the organization ",
        { name: org.name },
        ` is disabled, because events could not be delivered to ${origin ?? new URL(webhook.url).origin} for three days.`,
      ],
      "Its page shows why the deliveries failed. Correct the receiver, then enable the webhook there:",
    ],
    button: {
      label: "Open the webhook",
      url: `${orgUrl(config.publicUrl, org.slug)}/webhooks/${webhookId}`,
    },
    facts: [
      ["Organization", org.slug],
      ["Webhook", webhookId],
      ["Disabled", inWords(webhook.disabledAt)],
    ],
    notes: [
      "Events that the webhook missed are not delivered later. GET /api/v1/events lists them.",
      "You are receiving this email because you own the organization.",
    ],
  });
  return { id: `${webhookId}-${Date.parse(webhook.disabledAt)}`, to: owner.email, ...content };
}
