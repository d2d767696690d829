/** Delivers events to webhooks while the runner is running. Several runners share the work. */
import { openNetworks } from "../../shared/network/networks.ts";
import { pause } from "../../shared/process/with_timeout.ts";
import { isDatabaseFault, retryOnDatabaseFault } from "../../sql/connection/database_fault.ts";
import { isDatabaseCopy } from "../../sql/database_copy.ts";
import { settleEvents } from "../../sql/events/event_feed.ts";
import { enqueueJob } from "../../sql/job_queue.ts";
import { noteAttempt } from "../../sql/webhooks/delivery_retries.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  queueDeliveries,
} from "../../sql/webhooks/webhook_deliveries.ts";
import type { RunnerDeps } from "../runner_deps.ts";
import { type SendOptions, type SendResult, sendDelivery } from "./send_delivery.ts";

/** The maximum number of open requests per process. Each webhook has at most one open request. */
const CONCURRENT_DELIVERIES = 16;
const PAUSE_MS = 1000;
/** How often a runner checks whether it may deliver. */
const OWNER_CHECK_MS = 5000;

export interface DeliverDeps extends RunnerDeps {
  /** Overrides the options of `sendDelivery`, for tests. */
  sending?: Pick<SendOptions, "timeoutMs" | "resolve">;
}

/** Delivers events until `signal` is aborted. Settles when every request has ended. Retries while the database is down. */
export async function keepWebhooksDelivered(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  const mayDeliver = deliveryCheck(deps);
  while (!signal.aborted) {
    let claimed: readonly ClaimedDelivery[] = [];
    let isBehind = false;
    try {
      if (await mayDeliver()) {
        isBehind = await queueEvents(deps, signal);
        const free = CONCURRENT_DELIVERIES - running.size;
        claimed = free > 0 ? await claimDeliveries(deps.sql, free) : [];
      }
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot read the deliveries of webhooks");
    }
    for (const delivery of claimed) {
      const attempt = deliver(deps, delivery).finally(() => running.delete(attempt));
      running.add(attempt);
    }
    if (!isBehind) await Promise.race([pause(PAUSE_MS, signal), ...running]);
  }
  await Promise.all(running);
}

/**
 * Returns a function that checks every five seconds whether this database may deliver. A copy must not send the original's
 * events, even if it has its own artifact store. Deliveries do not need the store: while it is unavailable, the last result
 * applies. After the first check, an unresponsive store causes no delay.
 */
function deliveryCheck({ owner, sql, log }: DeliverDeps): () => Promise<boolean> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isHeld = false;
  let isOurs: boolean | null = null;
  const askOwner = async (): Promise<void> => {
    try {
      isOurs = await owner.isOurs();
    } catch (error) {
      // After a database fault, the store may belong to another database.
      if (!isDatabaseFault(error)) isOurs ??= true;
      log.warn(
        { event: "artifact_store.unknown_owner", err: error },
        "cannot read who owns the artifact store; deliveries to webhooks go on as before",
      );
    }
  };
  return async () => {
    if (performance.now() - checkedAt >= OWNER_CHECK_MS) {
      const asked = askOwner();
      if (isOurs === null) await asked;
      const wasHeld = isHeld;
      isHeld = await isDatabaseCopy(sql);
      if (isHeld && !wasHeld) log.warn({ event: "webhook.held" }, HELD);
      checkedAt = performance.now();
    }
    return isOurs === true && !isHeld;
  };
}

const HELD =
  "this database is a copy: nothing is delivered to webhooks until `bun run admin artifacts adopt` says that it replaces the original";

/**
 * Queues events for a batch of webhooks. Returns whether it found webhooks that were behind. If events arrive faster than
 * they can be queued for all webhooks, due deliveries are claimed between the batches.
 */
async function queueEvents({ sql }: DeliverDeps, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && (await settleEvents(sql)));
  return !signal.aborted && (await queueDeliveries(sql)) > 0;
}

/**
 * Sends a delivery and records its outcome. Never rejects: if the outcome is not recorded, the delivery is sent again when
 * its claim expires.
 */
async function deliver(deps: DeliverDeps, delivery: ClaimedDelivery): Promise<void> {
  const { shutdownSignal: signal } = deps;
  const networks = openNetworks(deps.config.webhookAllowedNetworks);
  const result = await sendDelivery(delivery, { ...deps.sending, networks, signal });
  // A request that this process aborted is not a failure of the receiver.
  if (signal.aborted && result.responseStatus === null) return;
  deps.metrics.webhookDeliveries.inc({ result: result.error === null ? "delivered" : "failed" });
  const { id, webhookId, orgId } = delivery;
  try {
    const noted = await retryOnDatabaseFault(() => note(deps, delivery, result), signal);
    const fields = { deliveryId: id, webhookId, orgId, responseStatus: result.responseStatus };
    if (result.error === null)
      deps.log.debug({ event: "webhook.delivered", ...fields }, "delivered an event");
    else {
      const { error: reason, cause } = result;
      deps.log.info(
        { event: "webhook.failed", ...fields, reason, cause },
        "cannot deliver an event to a webhook",
      );
    }
    if (!noted?.disabledAt) return;
    deps.metrics.webhookDeliveries.inc({ result: "given_up" });
    deps.log.warn({ event: "webhook.disabled", webhookId, orgId }, "disabled a webhook after three days");
  } catch (error) {
    deps.log.warn({ err: error, deliveryId: id }, "cannot note the attempt of a delivery");
  }
}

function note({ sql, boss }: DeliverDeps, delivery: ClaimedDelivery, result: SendResult) {
  const { id, webhookId } = delivery;
  const { responseStatus, error } = result;
  return sql.begin(async (tx) => {
    const noted = await noteAttempt(tx, { id, webhookId, responseStatus, error });
    if (noted?.disabledAt) {
      await enqueueJob(tx, boss, {
        id: crypto.randomUUID(),
        name: "send_webhook_disabled",
        payload: { webhookId, disabledAt: noted.disabledAt, origin: new URL(delivery.url).origin },
      });
    }
    return noted;
  });
}
