/** OpenAPI descriptions of events. */
import { ID, INSTANT, listOf, named, nullable, oneOf, record, TEXT } from "../../shared/json_schema.ts";
import { DEFINITION_TYPES, EVENT_TYPES } from "../../shared/vocabulary.ts";
import { describeQuery, limit, once, words } from "../http/query.ts";
import { ORG_SLUG } from "../openapi/parameters.ts";
import { dataResponse } from "../openapi/responses.ts";
import { describe, failsWith } from "../openapi/types.ts";

const EVENTS_TAG = "Events";

const EXPORT_DATA = record({ jobId: ID, status: oneOf(["ready", "failed"]) });
const DEFINITION_DATA = record({
  definitionId: ID,
  type: oneOf(DEFINITION_TYPES),
  name: TEXT,
  version: TEXT,
});
const MODEL_DATA = record(
  {
    provider: TEXT,
    modelId: TEXT,
    field: { ...TEXT, description: "The part of `cost`, such as `input` or `tiers.200000.input`" },
    oldValue: { type: ["number", "null"] },
    newValue: { type: ["number", "null"] },
  },
  ["field", "oldValue", "newValue"],
);

const EVENT = named(
  "Event",
  record({
    id: ID,
    type: oneOf(EVENT_TYPES),
    createdAt: { ...INSTANT, description: "When the transaction of the change began" },
    organization: { ...nullable(TEXT), description: "The organization's slug; null for models" },
    data: { anyOf: [EXPORT_DATA, DEFINITION_DATA, MODEL_DATA] },
  }),
);

const EXAMPLE_EVENT = {
  id: "7b0c3f4e-1c52-4f6e-9a53-51f0b1c1f0aa",
  type: "definition.published",
  createdAt: "2026-11-20T10:00:00.000Z",
  organization: "demo",
  data: {
    definitionId: "c1a3a2f0-88f2-4a3e-9d58-30f1c2b4e6d7",
    type: "agent",
    name: "code-reviewer",
    version: "1.2.0",
  },
};

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
