/** GET /events: lists all events in order, for readers that keep a cursor. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { isPersonalCredential } from "../../shared/policy.ts";
import { data, listOf } from "../../shared/schemas.ts";
import { EVENT_TYPES, type EventType } from "../../shared/vocabulary.ts";
import { isDatabaseFault } from "../../sql/connection/database_fault.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { findCursorKey, listEvents as listPage, settleEvents } from "../../sql/events/event_feed.ts";
import { readScope } from "../definitions/find_visible.ts";
import type { Caller } from "../http/caller.ts";
import { operation, reply } from "../http/operation.ts";
import { limit, once, words } from "../http/query.ts";
import { invalidField } from "../http/validation_problems.ts";
import { EVENT } from "./event_schemas.ts";

/**
 * A cursor is one block: four random bytes, four zero bytes and the position. The zero bytes prove that the cursor is ours.
 * Without the random bytes, two equal cursors would reveal that nothing had happened in any organization.
 */
const CIPHER = "aes-128-ecb";
const BLOCK_BYTES = 16;
const RANDOM_BYTES = 4;
const POSITION_AT = 8;
/** A block in base64url. */
const CURSOR = /^[A-Za-z0-9_-]{22}$/;
const INVALID_CURSOR = "must be the nextCursor of an earlier response";

export const listEvents = operation(
  {
    id: "listEvents",
    method: "GET",
    path: "/api/v1/events",
    access: "public",
    tag: "Events",
    usesOrg: true,
    summary: "List events",
    description:
      "Oldest first: events of models, of public definitions and of your organizations; with `X-Org-Slug` only those of that " +
      "organization. Pass `nextCursor` as `after` to get what has happened since: no event ever appears before a cursor that " +
      "was handed out. A cursor is valid for everyone and does not depend on `type`. Events are kept for 30 days. If events " +
      "after the cursor have been deleted, the response is 400 with the reason `cursor_too_old`.",
    query: {
      after: {
        description: "`nextCursor` of an earlier response; the oldest event when omitted",
        schema: Type.String({ pattern: CURSOR.source }),
        read: once((text, addProblem): string | null => {
          if (text !== null && !CURSOR.test(text)) addProblem(INVALID_CURSOR);
          return text;
        }),
      },
      type: words(EVENT_TYPES, "Only these types. Can be repeated"),
      limit: limit({ max: 200, unset: 50 }, "Events per page"),
    },
    response: {
      200: data(
        {
          events: listOf(EVENT),
          nextCursor: Type.String({ description: "Always present", examples: ["q8Yb0lWc2bQm8m1mC0pG5A"] }),
        },
        "Events, and the cursor for the next request",
      ),
    },
    fails: ["ORG_ACCESS_DENIED"],
  },
  async ({ query: { after, type, limit }, caller, request }, { sql }) => {
    const key = await findCursorKey(sql);
    const position = after === null ? 0 : decodeCursor(key, after);
    if (position === null) throw invalidCursor();
    const { viewer, orgId } = await readScope(sql, { caller, request });
    await settleIfWritable(sql);
    const types = (type.length > 0 ? type : EVENT_TYPES).filter((name) => maySee(name, caller));
    const page = await listPage(sql, { viewer, orgId, types, after: position, limit });
    if (after !== null && position > page.settledPosition) throw invalidCursor();
    if (after !== null && position < page.deletedPosition) {
      const details = { reason: "cursor_too_old" };
      throw new ApiError("VALIDATION_ERROR", { message: TEXTS.VALIDATION_ERROR.cursor, details });
    }
    const last = page.rows.at(-1);
    const isFull = page.rows.length === limit && last !== undefined;
    const nextCursor = encodeCursor(key, isFull ? last.position : page.settledPosition);
    return reply(200, { data: { events: page.rows.map(({ position: _, ...event }) => event), nextCursor } });
  },
);

/** Settles events if the database accepts writes. Otherwise, readers get only the events settled so far. */
async function settleIfWritable(sql: Sql): Promise<void> {
  try {
    await settleEvents(sql);
  } catch (error) {
    if (!isDatabaseFault(error)) throw error;
  }
}

/** Returns whether a caller may see events of a type. Export jobs are not accessible to automation and system keys. */
function maySee(type: EventType, caller: Caller | null): boolean {
  return !type.startsWith("export.") || (caller !== null && isPersonalCredential(caller.credential).ok);
}

function invalidCursor(): ApiError {
  return invalidField("after", INVALID_CURSOR);
}

/**
 * Returns the encrypted cursor of a position. Encryption hides how many events other organizations have, and when. `key` has 16
 * bytes and belongs to the database, so a cursor of another database is invalid.
 */
export function encodeCursor(key: Uint8Array, position: number): string {
  const block = Buffer.alloc(BLOCK_BYTES);
  randomBytes(RANDOM_BYTES).copy(block);
  block.writeBigUInt64BE(BigInt(position), POSITION_AT);
  return createCipheriv(CIPHER, key, null).setAutoPadding(false).update(block).toString("base64url");
}

/** Returns the position of a cursor; null if the cursor is invalid. */
export function decodeCursor(key: Uint8Array, cursor: string): number | null {
  const encrypted = Buffer.from(cursor, "base64url");
  if (encrypted.byteLength !== BLOCK_BYTES || encrypted.toString("base64url") !== cursor) return null;
  const block = createDecipheriv(CIPHER, key, null).setAutoPadding(false).update(encrypted);
  const position = Number(block.readBigUInt64BE(POSITION_AT));
  return block.readUInt32BE(RANDOM_BYTES) === 0 && Number.isSafeInteger(position) ? position : null;
}
