/**
 * Reads pages of `events` by position, limited to the events that a viewer can see. The database function `settle_events` assigns
 * positions (sql/migrations/20261122200100_event_log__create.sql).
 */
import type { EventType } from "../../shared/vocabulary.ts";
import { type Fragment, fragment, onlyValue, type Sql } from "../connection/pool.ts";
import { type DefinitionViewer, memberOrgIds } from "../definitions/visibility.ts";

/** Maximum number of events that one call settles: a few milliseconds of work. */
const SETTLE_BATCH = 1000;

export interface EventRow {
  id: string;
  position: number;
  type: EventType;
  createdAt: string;
  /** Slug of the organization; null for events of models. */
  organization: string | null;
  data: Readonly<Record<string, unknown>>;
}

export interface EventPage {
  rows: EventRow[];
  /** Events up to this position may have been deleted. */
  deletedPosition: number;
  /** Position of the newest settled event. Later events cannot be listed yet. */
  settledPosition: number;
}

/** The row of `event_log`, joined with an event. `id` is null if no event is listed. */
type ListedRow = Omit<EventPage, "rows"> & (EventRow | { id: null });

/** Assigns positions to committed events. Returns true if more events may be waiting. Call outside a transaction. */
export async function settleEvents(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ settled: number }]>`select settle_events(${SETTLE_BATCH}) as settled`;
  return row.settled === SETTLE_BATCH;
}

/** Returns the encryption key of cursors: 16 bytes that never change. */
export async function findCursorKey(sql: Sql): Promise<Uint8Array> {
  return onlyValue(sql<[{ cursorKey: Uint8Array }]>`select cursor_key from event_log`);
}

/**
 * Lists the events after a position that the viewer can see: events of models, of public definitions and of the viewer's
 * organizations. With `orgId`, lists only events of that organization, and none if the viewer is not a member. Events of
 * quarantined definitions are visible to members only.
 */
export async function listEvents(
  sql: Sql,
  page: {
    viewer: DefinitionViewer;
    orgId: string | null;
    types: readonly EventType[];
    after: number;
    limit: number;
  },
): Promise<EventPage> {
  const rows = await sql<[ListedRow, ...ListedRow[]]>`
    select l.deleted_position, l.settled_position, e.id, e.position, e.type, e.created_at, e.organization, e.data
    from event_log as l
    left join lateral (
      select e.id, e.position, e.type, e.created_at, o.slug as organization, e.data
      from (
        select id
        from (${visibleEvents(page)}) as v
        order by v.position
        limit ${page.limit}
      ) as p
      join events as e on e.id = p.id
      left join organizations as o on o.id = e.org_id
    ) as e on true
    order by e.position`;
  const [{ deletedPosition, settledPosition }] = rows;
  const found = rows.filter((row) => row.id !== null);
  return {
    rows: found.map(({ deletedPosition: _, settledPosition: __, ...event }) => event),
    deletedPosition,
    settledPosition,
  };
}

/** Returns a query that reads one index range per type and organization, and no private events of other organizations. */
function visibleEvents({ viewer, orgId, types, after, limit }: Parameters<typeof listEvents>[1]): Fragment {
  const own = fragment`
    select p.id, p.position
    from (${memberOrgIds(viewer)}) as m
    cross join unnest(${[...types]}::text[]) as t (type)
    cross join lateral (
      select e.id, e.position
      from events as e
      where e.org_id = m.org_id and e.type = t.type and e.position > ${after}
      order by e.position
      limit ${limit}
    ) as p
    where ${orgId}::uuid is null or m.org_id = ${orgId}::uuid`;
  if (orgId !== null) return own;
  const open = fragment`
    select p.id, p.position
    from unnest(${[...types]}::text[]) as t (type)
    cross join lateral (
      select e.id, e.position
      from events as e
      where e.is_public and e.type = t.type and e.position > ${after}
        and not exists (select from definitions as d where d.id = e.definition_id and d.quarantined_at is not null)
      order by e.position
      limit ${limit}
    ) as p`;
  return viewer.userId === null ? open : fragment`${own} union ${open}`;
}

/**
 * Deletes up to `limit` settled events that are older than `days` days, oldest first, and returns their number. Stores the last
 * deleted position, so that readers who missed events are notified.
 */
export async function deleteOldEvents(
  sql: Sql,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  return onlyValue(sql<[{ deleted: number }]>`
    with oldest as (
      select id, created_at
      from events
      where position is not null
      order by number
      limit ${limit}
    ),
    deleted as (
      delete from events as e
      using oldest as o
      where e.id = o.id and o.created_at < now() - make_interval(days => ${days})
      returning e.position
    ),
    noted as (
      update event_log
      set deleted_position = greatest(deleted_position, (select max(position) from deleted))
      where exists (select from deleted)
    )
    select count(*)::int as deleted from deleted`);
}
