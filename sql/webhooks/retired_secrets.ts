/** Table `webhook_retired_secrets`: replaced secrets of webhooks, which sign beside the current one for a day. */
import type { Sql } from "../connection/pool.ts";

/** Secrets of a webhook that sign beside the current one, at most. */
export const RETIRED_SECRETS_MAX = 5;
/** How long a secret signs after it was replaced. */
const RETIRED_SECRET_HOURS = 24;

/**
 * Keeps a secret that is being replaced. Returns until when it signs, or null if too many old ones still sign. Lock the
 * webhook first.
 */
export async function retireSecret(
  sql: Sql,
  { webhookId, secret }: { webhookId: string; secret: string },
): Promise<string | null> {
  const [signing] = await sql<[{ count: number }]>`
    select count(*) from webhook_retired_secrets where webhook_id = ${webhookId} and expires_at > now()`;
  if (signing.count >= RETIRED_SECRETS_MAX) return null;
  const [retired] = await sql<[{ expiresAt: string }]>`
    insert into webhook_retired_secrets (webhook_id, secret, expires_at)
    values (${webhookId}, ${secret}, now() + make_interval(hours => ${RETIRED_SECRET_HOURS}))
    returning expires_at`;
  return retired.expiresAt;
}
