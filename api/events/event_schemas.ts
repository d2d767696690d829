/** Schemas of events: one for each type, so that a client that compares the type knows the data. */
import {
  ID,
  INSTANT,
  type JsonSchema,
  named,
  nullable,
  oneOf,
  record,
  TEXT,
} from "../../shared/json_schema.ts";
import { DEFINITION_TYPES, EVENT_TYPES, type EventType } from "../../shared/vocabulary.ts";

const TYPE = oneOf(DEFINITION_TYPES);
const DEFINITION_DATA = record({ definitionId: ID, type: TYPE, name: TEXT, version: TEXT });
const MODEL = { provider: TEXT, modelId: TEXT };
const PRICE = { type: ["number", "null"] };

const DATA: Readonly<Record<EventType, JsonSchema>> = {
  "export.ready": record({ jobId: ID, status: oneOf(["ready"]) }),
  "export.failed": record({ jobId: ID, status: oneOf(["failed"]) }),
  "definition.published": DEFINITION_DATA,
  "definition.deprecated": DEFINITION_DATA,
  "definition.archived": DEFINITION_DATA,
  "model.added": record(MODEL),
  "model.gone": record(MODEL),
  "model.price_changed": record({
    ...MODEL,
    field: { ...TEXT, description: "The part of `cost`, such as `input` or `tiers.200000.input`" },
    oldValue: PRICE,
    newValue: PRICE,
  }),
};

/** Such as `ModelPriceChangedEvent`. */
function titleOf(type: string): string {
  return `${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

function eventSchema(type: string, data: JsonSchema): { type: string; schema: JsonSchema } {
  const schema = record({
    id: ID,
    type: oneOf([type]),
    createdAt: { ...INSTANT, description: "When the transaction of the change began" },
    organization: { ...nullable(TEXT), description: "The organization's slug; null for models" },
    data,
  });
  return { type, schema: named(titleOf(type), schema) };
}

/** One of the events, told apart by `type`. */
function unionOf(title: string, events: readonly ReturnType<typeof eventSchema>[]): JsonSchema {
  const mapping = events.map(({ type }) => [type, `#/components/schemas/${titleOf(type)}`]);
  return named(title, {
    oneOf: events.map(({ schema }) => schema),
    discriminator: { propertyName: "type", mapping: Object.fromEntries(mapping) },
  });
}

const EVENTS = EVENT_TYPES.map((type) => eventSchema(type, DATA[type]));

/** What `GET /events` lists. */
export const EVENT = unionOf("Event", EVENTS);

/** What is delivered to webhooks: the same and the test event. */
export const DELIVERED_EVENT = unionOf("DeliveredEvent", [
  ...EVENTS,
  eventSchema("webhook.test", record({ webhookId: ID })),
]);

export const EXAMPLE_EVENT = {
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
