/** OpenAPI descriptions of events. */
import { listOf, record, TEXT } from "../../shared/json_schema.ts";
import { EVENT_TYPES } from "../../shared/vocabulary.ts";
import { describeQuery, limit, once, words } from "../http/query.ts";
import { ORG_SLUG } from "../openapi/parameters.ts";
import { dataResponse } from "../openapi/responses.ts";
import { describe, failsWith } from "../openapi/types.ts";
import { EVENT, EXAMPLE_EVENT } from "./event_schemas.ts";

const EVENTS_TAG = "Events";

const CURSOR = /^[A-Za-z0-9_-]{22}$/;

export const EVENTS_QUERY = {
  after: {
    description: "`nextCursor` of an earlier response; the oldest event when omitted",
    schema: { ...TEXT, pattern: CURSOR.source },
    read: once((text, refuse): string | null => {
      if (text !== null && !CURSOR.test(text)) refuse("must be the nextCursor of an earlier response");
      return text;
    }),
  },
  type: words(EVENT_TYPES, "Only these types. Can be repeated"),
  limit: limit({ max: 200, unset: 50 }, "Events per page"),
};

export const LIST_EVENTS_DETAIL = describe({
  tags: [EVENTS_TAG],
  operationId: "listEvents",
  summary: "List events",
  description:
    "Oldest first: events of models, of public definitions and of your organizations; with `X-Org-Slug` only those of that " +
    "organization. Pass `nextCursor` as `after` to get what has happened since: no event ever appears before a cursor that " +
    "was handed out. A cursor is valid for everyone and does not depend on `type`. Events are kept for 30 days. If events " +
    "after the cursor have been deleted, the response is 400 with the reason `cursor_too_old`.",
  parameters: [...describeQuery(EVENTS_QUERY), ORG_SLUG],
  responses: {
    200: dataResponse(
      "Events, and the cursor for the next request",
      record({ events: listOf(EVENT), nextCursor: { ...TEXT, description: "Always present" } }),
      { events: [EXAMPLE_EVENT], nextCursor: "q8Yb0lWc2bQm8m1mC0pG5A" },
    ),
  },
  ...failsWith("VALIDATION_ERROR", "ORG_ACCESS_DENIED"),
});
