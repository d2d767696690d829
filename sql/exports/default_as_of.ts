/**
 * The cutoff of an export without `as_of`: the newest time that no open transaction can still write behind. Everything
 * committed before the call is at or before it, unless an open transaction holds it back.
 */
import { addMilliseconds } from "../../shared/instant.ts";

/** How long short transactions are waited for, so that the cutoff is as recent as possible. */
const FRESHNESS_WAIT_MS = 100;

/** Returns the newest cutoff that is possible at a time of the database's clock. */
export function newestAsOf(now: string): string {
  // Rounding may have put a row committed just now half a millisecond ahead of the clock.
  return addMilliseconds(now, 1);
}

/** Returns the newest cutoff, or else the one before all transactions that are still open; null to wait for them. */
export function defaultAsOf(
  newest: string,
  { blockers, waitedMs }: { blockers: readonly { transactionStart: string | null }[]; waitedMs: number },
): string | null {
  if (blockers.length === 0) return newest;
  if (waitedMs <= FRESHNESS_WAIT_MS) return null;
  const [oldest = newest] = blockers.flatMap(({ transactionStart }) => transactionStart ?? []).sort();
  return addMilliseconds(oldest, -1);
}
