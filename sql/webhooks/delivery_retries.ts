/**
 * Decides when to retry a failed delivery of a webhook, and when to disable the webhook. Pauses double with every failure up to
 * `max`.
 */
import type { WebhookDeliveryStatus } from "../../shared/vocabulary.ts";
import { firstValue, fragment, type Sql } from "../connection/pool.ts";
import { deleteOldDeliveries } from "./webhook_deliveries.ts";
import { markPendingFailed } from "./webhooks.ts";

/**
 * Pause between two attempts of one delivery, randomly shortened by up to a fifth. The first pauses are short, because most
 * failures are isolated.
 */
const DELIVERY_PAUSE_SECONDS = { first: 0.5, max: 3600 };
/** Pause between the deliveries of a webhook, from its second consecutive failure on. */
const WEBHOOK_PAUSE_SECONDS = { first: 1, max: 300 };
/**
 * A webhook is disabled if a delivery has been failing for this many days and if either the delivery's failures or the webhook's
 * consecutive failures have reached `FAILURES_UNTIL_DISABLED`. The days alone prove little, because the runners may have been down.
 */
const DAYS_UNTIL_DISABLED = 3;
const FAILURES_UNTIL_DISABLED = 10;

export interface Attempt {
  id: string;
  webhookId: string;
  /** HTTP status of the response; null if there was no response. */
  responseStatus: number | null;
  /** Error message; null if the attempt succeeded. */
  error: string | null;
}

/**
 * Records an attempt, sets the time when the webhook is due again, and disables the webhook if the delivery has failed for too
 * long. `disabledAt` is set if this attempt disabled the webhook. Returns null if the webhook is disabled or deleted, or if the
 * delivery is no longer pending. Call inside a transaction.
 */
export async function noteAttempt(sql: Sql, attempt: Attempt): Promise<{ disabledAt: string | null } | null> {
  const { webhookId, error } = attempt;
  // `queueDeliveries` locks this row too, so the following statements see all deliveries that it has queued.
  const [webhook] = await sql<{ failures: number }[]>`
    select failures from webhooks where id = ${webhookId} and disabled_at is null for update`;
  const status = await updateDelivery(sql, attempt, webhook?.failures ?? 0);
  if (!webhook || status === null) return null;
  let disabledAt: string | null = null;
  if (status === "failed") {
    disabledAt = await firstValue(sql<{ disabledAt: string }[]>`
      update webhooks
      set disabled_at = now(), due_at = null, claimed_until = null
      where id = ${webhookId}
      returning disabled_at`);
    await markPendingFailed(sql, webhookId);
  } else {
    const failures = error === null ? 0 : webhook.failures + 1;
    const seconds = webhookPauseSeconds(failures);
    const pauseEnd = fragment`now() + make_interval(secs => ${seconds})`;
    await sql`
      update webhooks
      set failures = ${failures}, claimed_until = null,
        -- Null without a pause. now() would delay new events if the database's clock were set back.
        paused_until = case when ${seconds}::float8 > 0 then ${pauseEnd} end,
        due_at = (
          select greatest(min(next_attempt_at), ${pauseEnd})
          from webhook_deliveries
          where webhook_id = ${webhookId} and status = 'pending'
          having count(*) > 0
        )
      where id = ${webhookId}`;
  }
  await deleteOldDeliveries(sql, webhookId);
  return { disabledAt };
}

/** Returns the pause of a webhook in seconds. A single failure causes no pause, because it says little about the receiver. */
function webhookPauseSeconds(failuresInRow: number): number {
  const { first, max } = WEBHOOK_PAUSE_SECONDS;
  return failuresInRow < 2 ? 0 : Math.min(first * 2 ** (failuresInRow - 2), max);
}

/** Records an attempt of a delivery and returns the delivery's new status; null if the delivery was no longer pending. */
async function updateDelivery(
  sql: Sql,
  { id, responseStatus, error }: Attempt,
  failuresBefore: number,
): Promise<WebhookDeliveryStatus | null> {
  const { first, max } = DELIVERY_PAUSE_SECONDS;
  return firstValue(sql<{ status: WebhookDeliveryStatus }[]>`
    update webhook_deliveries
    set attempts = attempts + 1,
      first_attempt_at = coalesce(first_attempt_at, now()),
      last_attempt_at = now(),
      response_status = ${responseStatus},
      error = ${error},
      status = case
        when ${error}::text is null then 'delivered'
        -- The webhook's consecutive failures count too, because each delivery is rarely attempted if many are pending.
        when first_attempt_at < now() - make_interval(days => ${DAYS_UNTIL_DISABLED})
          and 1 + greatest(attempts, ${failuresBefore}::int) >= ${FAILURES_UNTIL_DISABLED} then 'failed'
        else 'pending'
      end,
      -- Shortened at random, so that failed deliveries are not retried all at once.
      next_attempt_at = now() + make_interval(
        secs => least(${first} * power(2, least(attempts, 20)), ${max}) * (1 - random() / 5)
      )
    where id = ${id} and status = 'pending'
    returning status`);
}
