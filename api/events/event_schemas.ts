/** Schemas of events, one per type, so that clients can narrow `data` by `type`. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Instant, Nullable, oneOf, Text, taggedUnion, Uuid } from "../../shared/schemas.ts";
import { DEFINITION_TYPES, EVENT_TYPES, type EventType } from "../../shared/vocabulary.ts";
import type { EventRow } from "../../sql/events/event_feed.ts";

/** An event in responses and webhook deliveries. */
type Event = Omit<EventRow, "position">;

const DEFINITION_DATA = Type.Object({
  definitionId: Uuid(),
  type: oneOf(DEFINITION_TYPES),
  name: Text,
  version: Text,
});
const MODEL = { provider: Text, modelId: Text };
const Price = Nullable(Type.Number());

const DATA: Readonly<Record<EventType, TSchema>> = {
  "export.ready": Type.Object({ jobId: Uuid(), status: oneOf(["ready"]) }),
  "export.failed": Type.Object({ jobId: Uuid(), status: oneOf(["failed"]) }),
  "definition.published": DEFINITION_DATA,
  "definition.deprecated": DEFINITION_DATA,
  "definition.archived": DEFINITION_DATA,
  "model.added": Type.Object(MODEL),
  "model.gone": Type.Object(MODEL),
  "model.price_changed": Type.Object({
    ...MODEL,
    field: Type.String({ description: "The part of `cost`, such as `input` or `tiers.200000.input`" }),
    oldValue: Price,
    newValue: Price,
  }),
};

/** Returns the schema of an event type, titled for example `ModelPriceChangedEvent`. */
function eventSchema(type: string, data: TSchema): TObject {
  const name = type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fields = {
    id: Uuid(),
    type: oneOf([type]),
    createdAt: Instant({ description: "When the transaction of the change began" }),
    organization: Nullable(Text, { description: "The organization's slug; null for models" }),
    data,
  };
  return Type.Object(fields, { title: `${name}Event` });
}

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

const EVENTS = EVENT_TYPES.map((type) => eventSchema(type, DATA[type]));

/** Schema of the events in `GET /events`. */
export const EVENT = taggedUnion<Event>("type", EVENTS, { title: "Event", examples: [EXAMPLE_EVENT] });

/** Schema of events delivered to webhooks: the events of `GET /events` and the test event. */
export const DELIVERED_EVENT = taggedUnion<Event>(
  "type",
  [...EVENTS, eventSchema("webhook.test", Type.Object({ webhookId: Uuid() }))],
  { title: "DeliveredEvent", examples: [EXAMPLE_EVENT] },
);
