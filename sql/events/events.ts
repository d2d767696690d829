/** Writes to `events`, which GET /events and webhooks read. Call these functions inside the transaction that makes the change. */
import type { DefinitionEventType, EventType } from "../../shared/vocabulary.ts";
import { type Sql, tableRows } from "../connection/pool.ts";
import type { PriceChange } from "../models/model_price_changes.ts";
import type { ModelKey } from "../models/models.ts";

/** Adds an `export.ready` or `export.failed` event. Does nothing if the organization no longer exists. */
export async function insertExportEvent(
  sql: Sql,
  job: { id: string; orgId: string; status: string },
): Promise<void> {
  const type: EventType = job.status === "ready" ? "export.ready" : "export.failed";
  await sql`
    insert into events (type, org_id, is_public, data)
    select ${type}, id, false, ${sql.json({ jobId: job.id, status: job.status })}
    from organizations
    where id = ${job.orgId}`;
}

/** Adds an event for each of these versions, in the given order. The versions have been published, deprecated or archived. */
export async function insertDefinitionEvents(
  sql: Sql,
  { type, definitionIds }: { type: DefinitionEventType; definitionIds: readonly string[] },
): Promise<void> {
  await sql`
    insert into events (type, org_id, definition_id, is_public, data)
    select ${type}, d.org_id, d.id, d.visibility = 'public',
      jsonb_build_object('definitionId', d.id, 'type', d.type, 'name', d.name, 'version', d.version)
    from unnest(${[...definitionIds]}::uuid[]) with ordinality as given (id, position)
    join definitions as d on d.id = given.id
    order by given.position`;
}

/** Adds an event for each added model, each removed model and each changed price. */
export async function insertModelEvents(
  sql: Sql,
  plan: {
    added: readonly ModelKey[];
    gone: readonly ModelKey[];
    priceChanges: readonly PriceChange[];
  },
): Promise<void> {
  const keyOf = ({ provider, modelId }: ModelKey) => ({ provider, modelId });
  const events: { type: EventType; data: object }[] = [
    ...plan.added.map((model) => ({ type: "model.added" as const, data: keyOf(model) })),
    ...plan.gone.map((model) => ({ type: "model.gone" as const, data: keyOf(model) })),
    ...plan.priceChanges.map((change) => ({ type: "model.price_changed" as const, data: change })),
  ];
  if (events.length === 0) return;
  await sql`
    insert into events (type, is_public, data)
    select type, true, data
    from ${tableRows(sql, "events", events)} as e`;
}
