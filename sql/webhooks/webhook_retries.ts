/**
 * When a failed delivery is tried again, how long a failing webhook pauses, and when it is disabled. A pause doubles with every
 * failure up to `max`.
 */
import type { Sql } from "../connection/pool.ts";

/** The first pauses are short, because most failures are single ones. In seconds. */
const DELIVERY_PAUSE = { first: 0.5, max: 3600 };
/** Between the deliveries of a webhook, from its second failure in a row. */
const WEBHOOK_PAUSE = { first: 1, max: 300 };
/** After this time of failed attempts of one delivery, its webhook is disabled. */
const DAYS_UNTIL_DISABLED = 3;

/**
 * Returns when a delivery that has just failed is tried again. Its pause is randomly shortened by up to a fifth, so that failures
 * do not come back together.
 */
export function nextAttemptAt(sql: Sql) {
  const { first, max } = DELIVERY_PAUSE;
  return sql`
    now() + make_interval(secs => least(${first} * power(2, least(attempts, 20)), ${max}) * (1 - random() / 5))`;
}

/** Returns the condition that a delivery has failed for too long to be tried again. */
export function isGivenUp(sql: Sql) {
  return sql`first_attempt_at < now() - make_interval(days => ${DAYS_UNTIL_DISABLED})`;
}

/** Returns how long a webhook pauses. One failure says little of a receiver, so its other deliveries go on. */
export function webhookPauseSeconds(failuresInRow: number): number {
  const { first, max } = WEBHOOK_PAUSE;
  return failuresInRow < 2 ? 0 : Math.min(first * 2 ** (failuresInRow - 2), max);
}
