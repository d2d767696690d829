/**
 * When a failed delivery of a webhook is tried again, and when the webhook is disabled. Pauses double with every failure up to
 * `max`.
 */
import type { WebhookDeliveryStatus } from "../../shared/vocabulary.ts";
import { firstValue, fragment, type Sql } from "../connection/pool.ts";
import { deleteOldDeliveries } from "./webhook_deliveries.ts";
import { markPendingFailed } from "./webhooks.ts";

/**
 * Between two attempts of one delivery, randomly shortened by up to a fifth. The first pauses are short, because most failures are
 * single.
 */
const DELIVERY_PAUSE_SECONDS = { first: 0.5, max: 3600 };
/** Between the deliveries of a webhook, from its second failure in a row. */
const WEBHOOK_PAUSE_SECONDS = { first: 1, max: 300 };
/**
 * A webhook is disabled when a delivery has failed for so many days and, itself or with those before it, so many times. The days
 * alone do not disable it: perhaps no runner was working.
 */
const DAYS_UNTIL_DISABLED = 3;
const FAILURES_UNTIL_DISABLED = 10;

export interface Attempt {
  id: string;
  webhookId: string;
  /** Null if there was no response. */
  responseStatus: number | null;
  /** Null for a success. */
  error: string | null;
}

/**
 * Notes an attempt, makes the webhook due again, and disables it if the delivery has failed for too long. Call it inside a
 * transaction. Returns when it disabled the webhook, if it did; null if the webhook or the delivery is gone.
 */
export async function noteAttempt(sql: Sql, attempt: Attempt): Promise<{ disabledAt: string | null } | null> {
  const { webhookId, error } = attempt;
  // Queueing locks the row too: the statements after this one see what it has queued.
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
        -- Null without a pause: now() would hold up new events if the database's clock were set back.
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

/** Returns how long a webhook pauses. One failure says little about a receiver, so its other deliveries go on. */
function webhookPauseSeconds(failuresInRow: number): number {
  const { first, max } = WEBHOOK_PAUSE_SECONDS;
  return failuresInRow < 2 ? 0 : Math.min(first * 2 ** (failuresInRow - 2), max);
}

/** Returns the status of the delivery after the attempt; null if it was no longer pending. */
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
        -- Its own failures, or those of the webhook in a row: of many pending deliveries, each is rarely tried.
        when first_attempt_at < now() - make_interval(days => ${DAYS_UNTIL_DISABLED})
          and 1 + greatest(attempts, ${failuresBefore}::int) >= ${FAILURES_UNTIL_DISABLED} then 'failed'
        else 'pending'
      end,
      -- Shortened, so that failures do not come back together.
      next_attempt_at = now() + make_interval(
        secs => least(${first} * power(2, least(attempts, 20)), ${max}) * (1 - random() / 5)
      )
    where id = ${id} and status = 'pending'
    returning status`);
}
