/** Table `webhook_deliveries`: pending and finished deliveries of events to webhooks. */
import type { EventType, WebhookDeliveryStatus } from "../../shared/vocabulary.ts";
import { fragment, onlyRow, onlyValue, type Sql } from "../connection/pool.ts";
import { isoText } from "../iso_text.ts";

/** Once a webhook has this many pending deliveries, no more are queued for it. New events then wait in `events`. */
export const PENDING_MAX = 1000;
/** Number of finished deliveries that are kept per webhook, for its owner to inspect. */
const KEPT_MAX = 100;
/** Maximum number of webhooks that one statement processes, and of events that it queues per webhook. */
const BATCH = 100;
/**
 * Duration of a claim. It exceeds the duration of any attempt. When it ends, other runners can claim the delivery of a crashed
 * runner.
 */
const CLAIM_SECONDS = 60;
/** Number of due webhooks that a claim considers, longest due first. Organization creators take turns among them. */
const DUE_COMPARED = 1000;
/**
 * Id of the owner that takes turns for an organization `o`: its creator, or the organization itself if it is personal or an
 * operator created it.
 */
const OWNER = fragment`coalesce(o.created_by, o.id)`;

export interface DeliveryRow {
  id: string;
  eventId: string;
  type: EventType | "webhook.test";
  status: WebhookDeliveryStatus;
  attempts: number;
  createdAt: string;
  lastAttemptAt: string | null;
  /** Time of the next attempt; null if there is no next attempt. */
  nextAttemptAt: string | null;
  responseStatus: number | null;
  error: string | null;
}

const DELIVERY_COLUMNS = fragment`
  id, event_id, type, status, attempts, created_at, last_attempt_at,
  case when status = 'pending' then next_attempt_at end as next_attempt_at, response_status, error`;

/**
 * Sort order with attempted deliveries first. Attempts show why a webhook fails, even if hundreds of newer deliveries are pending.
 */
const ATTEMPTED_FIRST = fragment`attempts = 0, number desc`;

/** Lists up to 100 deliveries of a webhook, newest first. If there are more, deliveries without an attempt are omitted first. */
export async function listDeliveries(sql: Sql, webhookId: string): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    with listed as (
      select *
      from webhook_deliveries
      where webhook_id = ${webhookId}
      order by ${ATTEMPTED_FIRST}
      limit ${KEPT_MAX}
    )
    select ${DELIVERY_COLUMNS}
    from listed
    order by number desc`;
}

export async function countPendingDeliveries(sql: Sql, webhookId: string): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*) as count
    from webhook_deliveries
    where webhook_id = ${webhookId} and status = 'pending'`);
}

/**
 * Queues a delivery before all other deliveries of the webhook and ends the webhook's pause, because a person waits for the
 * outcome. Call inside a transaction.
 */
export async function insertDelivery(
  sql: Sql,
  delivery: { webhookId: string; eventId: string; type: string; payload: string },
): Promise<DeliveryRow> {
  const { webhookId, eventId, type, payload } = delivery;
  await sql`
    update webhooks
    set paused_until = null, due_at = greatest(now(), claimed_until)
    where id = ${webhookId}`;
  return onlyRow(sql<[DeliveryRow]>`
    insert into webhook_deliveries (webhook_id, event_id, type, payload, next_attempt_at)
    select ${webhookId}, ${eventId}, ${type}, ${payload}, least(now(), min(next_attempt_at) - interval '1 ms')
    from webhook_deliveries
    where webhook_id = ${webhookId} and status = 'pending'
    returning ${DELIVERY_COLUMNS}`);
}

/**
 * Queues up to 100 settled events for each of up to 100 webhooks that are behind, and returns the number of these webhooks. A
 * webhook receives events of its organization and of models. Concurrent runners process different webhooks.
 */
export async function queueDeliveries(sql: Sql): Promise<number> {
  return onlyValue(sql<[{ webhooks: number }]>`
    with log as (select settled_position from event_log),
    chosen as (
      select w.id, w.org_id, w.types, w.position
      from webhooks as w
      cross join log
      where w.disabled_at is null and w.position < log.settled_position
        and (
          select count(*) from webhook_deliveries as d where d.webhook_id = w.id and d.status = 'pending'
        ) < ${PENDING_MAX}
      order by w.position
      limit ${BATCH}
      for update of w skip locked
    ),
    found as (
      select c.id as webhook_id, e.*
      from chosen as c
      cross join log
      cross join lateral (
        select f.*
        from unnest(c.types) as t (type)
        cross join lateral (
          (
            select * from events as e
            where e.org_id = c.org_id and e.type = t.type and e.position > c.position
            order by e.position
            limit ${BATCH}
          )
          union all
          (
            select * from events as e
            where e.is_public and e.org_id is null and e.type = t.type and e.position > c.position
            order by e.position
            limit ${BATCH}
          )
        ) as f
        where f.position <= log.settled_position
        order by f.position
        limit ${BATCH}
      ) as e
    ),
    queued as (
      insert into webhook_deliveries (webhook_id, event_id, type, payload)
      select f.webhook_id, f.id, f.type, json_build_object(
        'id', f.id, 'type', f.type, 'createdAt', ${sql.unsafe(isoText("f.created_at"))}, 'organization', o.slug, 'data', f.data
      )::text
      from found as f
      left join organizations as o on o.id = f.org_id
      order by f.position
      on conflict on constraint webhook_deliveries_webhook_id_event_id_key do nothing
    ),
    reached as (
      select c.id, count(f.id) as events,
        case when count(f.id) = ${BATCH} then max(f.position) else max(log.settled_position) end as position
      from chosen as c
      cross join log
      left join found as f on f.webhook_id = c.id
      group by c.id
    ),
    moved as (
      update webhooks as w
      set position = greatest(w.position, r.position),
        due_at = case
          when r.events > 0 then least(w.due_at, greatest(now(), w.claimed_until, w.paused_until))
          else w.due_at
        end
      from reached as r
      where w.id = r.id
      returning w.id
    )
    select count(*)::int as webhooks from moved`);
}

/** A delivery to attempt. */
export interface ClaimedDelivery {
  /** Id of the delivery. It is the same for every attempt, so that receivers can discard duplicates. */
  id: string;
  webhookId: string;
  orgId: string;
  url: string;
  /** The current secret, then the retired secrets that are still used for signing. */
  secrets: string[];
  payload: string;
  attempts: number;
  claimedAt: string;
}

/**
 * Claims one due delivery from each of up to `limit` webhooks, for one minute. A webhook receives one request at a time. The
 * creators of organizations take turns, and creators with open requests come later. Slow receivers therefore delay only their
 * creator's organizations. The organizations of a creator also take turns.
 */
export async function claimDeliveries(sql: Sql, limit: number): Promise<ClaimedDelivery[]> {
  return sql<ClaimedDelivery[]>`
    with due as (
      select id, org_id, due_at
      from webhooks
      where due_at <= now() and disabled_at is null
      order by due_at
      limit ${DUE_COMPARED}
    ), claims as (
      select w.org_id, ${OWNER} as owner_id, count(*) as count
      from webhooks as w
      join organizations as o on o.id = w.org_id
      -- A claimed webhook is due when its claim ends, so the index finds it. Times are rounded to milliseconds, possibly upwards.
      where w.due_at > now() and w.due_at <= now() + make_interval(secs => ${CLAIM_SECONDS + 1})
        and w.claimed_until > now()
      group by w.org_id, owner_id
    ), org_turns as (
      select d.id, d.due_at, ${OWNER} as owner_id,
        coalesce(c.count, 0) + row_number() over (partition by d.org_id order by d.due_at) as org_turn
      from due as d
      join organizations as o on o.id = d.org_id
      left join claims as c on c.org_id = d.org_id
    ), turns as (
      select t.id, t.due_at,
        coalesce(c.count, 0) + row_number() over (partition by t.owner_id order by t.org_turn, t.due_at) as turn
      from org_turns as t
      left join (select owner_id, sum(count) as count from claims group by owner_id) as c using (owner_id)
    ), claimed as (
      update webhooks
      set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS}),
        due_at = now() + make_interval(secs => ${CLAIM_SECONDS})
      where id in (
        select w.id
        from turns as t
        join webhooks as w on w.id = t.id
        where w.due_at <= now() and w.disabled_at is null
        order by t.turn, t.due_at
        limit ${limit}
        for update of w skip locked
      )
      returning id, org_id, url, secret
    )
    select d.id, w.id as webhook_id, w.org_id, w.url, d.payload, d.attempts, now() as claimed_at,
      w.secret || array(
        select r.secret
        from webhook_retired_secrets as r
        where r.webhook_id = w.id and r.expires_at > now()
        order by r.expires_at desc
      ) as secrets
    from claimed as w
    cross join lateral (
      select d.id, d.payload, d.attempts
      from webhook_deliveries as d
      where d.webhook_id = w.id and d.status = 'pending'
      order by d.next_attempt_at, d.number
      limit 1
    ) as d`;
}

/** Deletes the finished deliveries of a webhook beyond `KEPT_MAX`: first those without an attempt, then the oldest. */
export async function deleteOldDeliveries(sql: Sql, webhookId: string): Promise<void> {
  await sql`
    delete from webhook_deliveries
    where id in (
      select id
      from webhook_deliveries
      where webhook_id = ${webhookId} and status <> 'pending'
      order by ${ATTEMPTED_FIRST}
      offset ${KEPT_MAX}
    )`;
}

/** Returns the number of seconds for which the enabled webhook that is longest due has waited; 0 if no webhook is due. */
export async function measureOldestDelivery(sql: Sql): Promise<number> {
  return onlyValue(sql<[{ seconds: number }]>`
    select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds
    from webhooks
    where due_at <= now() and disabled_at is null`);
}
