/** Job `send_webhook_disabled`: mails the organization's owner that a webhook was disabled. */
import type { JobPayloads } from "../../shared/background_jobs.ts";
import { findFirstOwnerId, findOrgById } from "../../sql/accounts/orgs.ts";
import { findUser } from "../../sql/accounts/users.ts";
import { findAnyWebhook } from "../../sql/webhooks/webhooks.ts";
import { composeMail } from "../compose_mail.ts";
import { type MailMessage, sendMail } from "../mailer.ts";
import type { RunnerDeps } from "../runner_deps.ts";

/** Sends the mail, unless the webhook is gone or works again. May send it twice, with the same Message-ID. */
export async function sendWebhookDisabled(
  deps: RunnerDeps,
  { webhookId }: JobPayloads["send_webhook_disabled"],
): Promise<void> {
  await deps.owner.require();
  const message = await compose(deps, webhookId);
  const log = deps.log.child({ webhookId });
  if (message)
    await sendMail({ ...deps, log }, message, { event: "webhook_mail", signal: deps.shutdownSignal });
  else log.info({ event: "webhook_mail.skipped" }, "the mail is no longer wanted");
}

async function compose({ sql }: RunnerDeps, webhookId: string): Promise<MailMessage | null> {
  const webhook = await findAnyWebhook(sql, webhookId);
  if (!webhook?.disabledAt) return null;
  const ownerId = await findFirstOwnerId(sql, webhook.orgId);
  const [org, owner] = [
    await findOrgById(sql, webhook.orgId),
    ownerId === null ? null : await findUser(sql, ownerId),
  ];
  if (!org || !owner || owner.disabledAt !== null) return null;
  const { origin } = new URL(webhook.url);
  const content = composeMail({
    subject: `A webhook of ${org.slug} is disabled`,
    intro: [
      `Events could not be delivered to ${origin} for three days, so the webhook ${webhookId} of the organization ${org.slug} is disabled.`,
      `GET /api/v1/orgs/${org.slug}/webhooks/${webhookId}/deliveries shows why. To enable it again, PATCH the webhook with {"enabled": true}. GET /api/v1/events has the events that it missed.`,
    ],
    notes: [],
  });
  return { id: `${webhookId}-${Date.parse(webhook.disabledAt)}`, to: owner.email, ...content };
}
