/**
 * Tables `webhooks` and `webhook_retired_secrets`: the URLs that receive events of an organization, and replaced secrets. For one
 * more day, requests are signed with a replaced secret in addition to the current one.
 */
import type { EventType } from "../../shared/vocabulary.ts";
import { firstRow, fragment, onlyRow, type Sql } from "../connection/pool.ts";

/** Maximum number of replaced secrets of a webhook that are still used for signing. */
export const RETIRED_SECRETS_MAX = 5;
/** Number of hours for which a secret is still used for signing after its replacement. */
const RETIRED_SECRET_HOURS = 24;

/** A webhook without its secret. */
export interface WebhookRow {
  id: string;
  orgId: string;
  url: string;
  types: EventType[];
  disabledAt: string | null;
  createdAt: string;
  updatedAt: string;
}

const COLUMNS = ["id", "org_id", "url", "types", "disabled_at", "created_at", "updated_at"];

/** Inserts a webhook that receives events from now on. Lock the organization before you count its webhooks. */
export async function insertWebhook(
  sql: Sql,
  webhook: { orgId: string; url: string; types: readonly EventType[]; secret: string },
): Promise<WebhookRow> {
  return onlyRow(sql<[WebhookRow]>`
    insert into webhooks (org_id, url, types, secret, position)
    select ${webhook.orgId}, ${webhook.url}, ${[...webhook.types]}, ${webhook.secret}, settled_position
    from event_log
    returning ${sql(COLUMNS)}`);
}

/** Lists an organization's webhooks, oldest first. */
export async function listWebhooks(sql: Sql, orgId: string): Promise<WebhookRow[]> {
  return sql<WebhookRow[]>`
    select ${sql(COLUMNS)}
    from webhooks
    where org_id = ${orgId}
    order by created_at, id`;
}

/** Finds a webhook of an organization by id; null if the organization has no such webhook. */
export async function findWebhook(sql: Sql, key: { id: string; orgId: string }): Promise<WebhookRow | null> {
  return firstRow(sql<WebhookRow[]>`
    select ${sql(COLUMNS)}
    from webhooks
    where id = ${key.id} and org_id = ${key.orgId}`);
}

/** Finds a webhook like `findWebhook`, and locks it against changes and deletion until the transaction ends. */
export async function lockWebhook(tx: Sql, key: { id: string; orgId: string }): Promise<WebhookRow | null> {
  return firstRow(tx<WebhookRow[]>`
    select ${tx(COLUMNS)}
    from webhooks
    where id = ${key.id} and org_id = ${key.orgId}
    for no key update`);
}

/** Finds a webhook of any organization by id, for the job runner; null if the webhook does not exist. */
export async function findAnyWebhook(sql: Sql, id: string): Promise<WebhookRow | null> {
  return firstRow(sql<WebhookRow[]>`select ${sql(COLUMNS)} from webhooks where id = ${id}`);
}

/**
 * Updates the fields that are set. Enabling a disabled webhook skips the events since it was disabled. Disabling a webhook marks
 * its pending deliveries as failed. A new URL or enabling the webhook makes its pending deliveries due. Lock the webhook first.
 */
export async function updateWebhook(
  tx: Sql,
  change: { id: string; url?: string; types?: readonly EventType[]; enabled?: boolean },
): Promise<WebhookRow> {
  const { id, url = null, enabled = null } = change;
  const types = change.types ? [...change.types] : null;
  const row = await onlyRow(tx<[WebhookRow]>`
    update webhooks as w
    set url = coalesce(${url}, w.url),
      types = coalesce(${types}::text[], w.types),
      position = case when ${enabled}::boolean and w.disabled_at is not null then l.settled_position else w.position end,
      due_at = case when not ${enabled}::boolean then null else w.due_at end,
      claimed_until = case when not ${enabled}::boolean then null else w.claimed_until end,
      disabled_at = case
        when ${enabled}::boolean then null
        when not ${enabled}::boolean then coalesce(w.disabled_at, now())
        else w.disabled_at
      end,
      updated_at = now()
    from event_log as l
    where w.id = ${id}
    returning ${tx(COLUMNS.map((column) => `w.${column}`))}`);
  if (enabled === false) await markPendingFailed(tx, id);
  else if (enabled || url !== null) await makePendingDue(tx, id);
  return row;
}

/** Resets the failures of a webhook and makes its pending deliveries due, because its owner has changed a setting. */
async function makePendingDue(sql: Sql, webhookId: string): Promise<void> {
  const isPending = fragment`webhook_id = ${webhookId} and status = 'pending'`;
  await sql`
    update webhook_deliveries
    set next_attempt_at = least(next_attempt_at, now()), first_attempt_at = null
    where ${isPending} and (next_attempt_at > now() or first_attempt_at is not null)`;
  await sql`
    update webhooks
    set failures = 0, paused_until = null,
      due_at = case
        when exists (select from webhook_deliveries where ${isPending}) then greatest(now(), claimed_until)
      end
    where id = ${webhookId}`;
}

/**
 * Replaces the secret of a webhook. The old secret is used for signing until `retiredUntil`. Returns null if too many replaced
 * secrets are still in use. Lock the webhook first.
 */
export async function rotateWebhookSecret(
  tx: Sql,
  { id, secret }: { id: string; secret: string },
): Promise<(WebhookRow & { retiredUntil: string }) | null> {
  return firstRow(tx<(WebhookRow & { retiredUntil: string })[]>`
    with retired as (
      insert into webhook_retired_secrets (webhook_id, secret, expires_at)
      select id, secret, now() + make_interval(hours => ${RETIRED_SECRET_HOURS})
      from webhooks
      where id = ${id} and (
        select count(*) from webhook_retired_secrets where webhook_id = ${id} and expires_at > now()
      ) < ${RETIRED_SECRETS_MAX}
      returning expires_at
    )
    update webhooks as w
    set secret = ${secret}, updated_at = now()
    from retired as r
    where w.id = ${id}
    returning ${tx(COLUMNS.map((column) => `w.${column}`))}, r.expires_at as retired_until`);
}

/** Deletes a webhook and its deliveries. */
export async function deleteWebhook(tx: Sql, id: string): Promise<void> {
  await tx`delete from webhooks where id = ${id}`;
}

/** Marks the pending deliveries of a webhook as failed. */
export async function markPendingFailed(sql: Sql, webhookId: string): Promise<void> {
  await sql`
    update webhook_deliveries
    set status = 'failed'
    where webhook_id = ${webhookId} and status = 'pending'`;
}
