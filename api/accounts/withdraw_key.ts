/** The end of an API key, whether its user or an operator revokes it. */
import { markApiKeyRevoked, markOwnApiKeyRevoked, type RevokedKeyRow } from "../../sql/accounts/api_keys.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool } from "../../sql/connection/pool.ts";

/**
 * Revokes a key and adds an audit entry; null if there is no such key. With `userId`, another user's key or a revoked one
 * is indistinguishable from a key that does not exist. Without it, a revoked key keeps the time of its revocation.
 */
export async function withdrawKey(
  sql: Pool,
  { id, userId, actor }: { id: string; userId?: string; actor: AuditActor },
): Promise<RevokedKeyRow | null> {
  return sql.begin(async (tx) => {
    const key =
      userId === undefined ? await markApiKeyRevoked(tx, id) : await markOwnApiKeyRevoked(tx, { id, userId });
    if (!key) return null;
    await insertAuditEntry(tx, {
      ...actor,
      action: "key.revoke",
      subject: { type: "api_key", id: key.id },
      orgId: key.orgId,
    });
    return key;
  });
}
