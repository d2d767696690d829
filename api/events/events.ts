/** GET /events: what happened, complete and in order, for readers that keep a cursor. */
import { Elysia } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { mayManageExportJobs } from "../../shared/policy.ts";
import { EVENT_TYPES, ORG_ROLES, type OrgRole } from "../../shared/vocabulary.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { type EventRow, findCursorKey, listEvents, settleEvents } from "../../sql/events/event_feed.ts";
import { readScope } from "../definitions/find_readable.ts";
import { access } from "../http/access.ts";
import type { Caller } from "../http/caller.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { EVENTS_QUERY, LIST_EVENTS_DETAIL } from "./openapi.ts";

export function eventRoutes({ sql }: { sql: Pool }) {
  let knownKey: Uint8Array | null = null;
  const findKey = async (): Promise<Uint8Array> => {
    knownKey ??= await findCursorKey(sql);
    return knownKey;
  };
  return new Elysia().use(access).get(
    "/events",
    async ({ request, visitor }) => {
      const { after, type, limit } = parseQuery(EVENTS_QUERY, queryOf(request));
      const key = await findKey();
      const position = after === null ? 0 : decodeCursor(key, after);
      if (position === null) throw invalidCursor();
      const { viewer, orgId } = await readScope(sql, visitor, request);
      await settleEvents(sql);
      const types = type.length > 0 ? type : EVENT_TYPES;
      const jobRoles = rolesThatFollowJobs(visitor);
      const page = await listEvents(sql, { viewer, orgId, jobRoles, types, after: position, limit });
      if (after !== null && position > page.settledPosition) throw invalidCursor();
      if (after !== null && position < page.deletedPosition) throw cursorTooOld();
      const last = page.rows.at(-1);
      const isFull = page.rows.length === limit && last !== undefined;
      const nextCursor = encodeCursor(key, isFull ? last.position : page.settledPosition);
      return { data: { events: page.rows.map(presentEvent), nextCursor } };
    },
    { publicAccess: true, detail: LIST_EVENTS_DETAIL },
  );
}

/** Events of exports are for those who may list the jobs. */
function rolesThatFollowJobs(visitor: Caller | null): readonly OrgRole[] {
  if (visitor === null) return [];
  const { credential } = visitor;
  return ORG_ROLES.filter((role) => mayManageExportJobs({ credential, role }).ok);
}

/** Returns an event as readers and receivers of webhooks get it. */
function presentEvent({ id, type, createdAt, organization, data }: EventRow) {
  return { id, type, createdAt, organization, data };
}

function invalidCursor(): ApiError {
  return invalidInput([{ path: "after", message: "must be the nextCursor of an earlier response" }]);
}

function cursorTooOld(): ApiError {
  return new ApiError("VALIDATION_ERROR", {
    message: "Events after this cursor have been deleted. Leave out `after` to read from the oldest event.",
    details: { reason: "cursor_too_old" },
  });
}
