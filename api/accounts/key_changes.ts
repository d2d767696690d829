/** Creates and revokes API keys, for users and operators. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { KeyKind, KeyScope } from "../../shared/vocabulary.ts";
import {
  type ApiKeyRow,
  countLiveApiKeys,
  insertApiKey,
  markApiKeyRevoked,
  type RevokedKeyRow,
} from "../../sql/accounts/api_keys.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findMembershipBySlug, lockMemberRole } from "../../sql/accounts/organization_members.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import { lockActiveUser } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { unauthorized } from "../http/authenticate.ts";
import { mintApiKey } from "../http/credentials.ts";
import { checkTexts, labelProblem, lineProblem } from "./profile_fields.ts";

/** Keys per user that are neither revoked nor expired. */
export const LIVE_KEYS_MAX = 100;

interface NewKey {
  user: { id: string; username: string };
  kind: KeyKind;
  scope: KeyScope;
  name: string | null;
  /** Slug of the only organization that the key works for; null for all the user's organizations. */
  organization: string | null;
  expiresAt: string | null;
  actor: AuditActor;
}

/**
 * Creates a key and adds an audit entry. Returns the secret, which is not stored. Call inside a transaction. Throws
 * VALIDATION_ERROR, ORG_ACCESS_DENIED, QUOTA_EXCEEDED, or UNAUTHORIZED if the user is disabled.
 */
export async function issueKey(tx: Sql, options: NewKey): Promise<{ secret: string; row: ApiKeyRow }> {
  const { user, kind, scope, name, expiresAt, actor } = options;
  checkTexts({ name }, { name: labelProblem });
  const orgId = await findKeyOrgId(tx, options);
  // Locks the user so that concurrent requests cannot exceed the quota.
  if (!(await lockActiveUser(tx, { id: user.id })))
    throw unauthorized(TEXTS.UNAUTHORIZED.disabledUser(user.username));
  if ((await countLiveApiKeys(tx, user.id)) >= LIVE_KEYS_MAX)
    throw new ApiError("QUOTA_EXCEEDED", { details: { quota: "keys", limit: LIVE_KEYS_MAX } });
  const { secret, prefix, hash } = mintApiKey();
  const key = { userId: user.id, orgId, kind, scope, name, prefix, keyHash: hash, expiresAt };
  const row = await insertApiKey(tx, key);
  await insertAuditEntry(tx, {
    ...actor,
    action: "key.create",
    subject: { type: "api_key", id: row.id },
    orgId,
    details: { username: user.username, prefix, kind, scope, expiresAt },
  });
  return { secret, row };
}

async function findKeyOrgId(tx: Sql, { user, organization: slug }: NewKey): Promise<string | null> {
  if (slug === null) return null;
  checkTexts({ organization: slug }, { organization: lineProblem });
  const membership = await findMembershipBySlug(tx, { userId: user.id, slug });
  if (membership) {
    const { orgId } = membership;
    await lockOrg(tx, orgId);
    // Otherwise, a concurrent removal of the member would miss this key, and the key would work again after a rejoin.
    if (await lockMemberRole(tx, { orgId, userId: user.id })) return orgId;
  }
  throw new ApiError("ORG_ACCESS_DENIED", {
    message: TEXTS.ORG_ACCESS_DENIED.key({ username: user.username, slug }),
  });
}

/**
 * Revokes a key and adds an audit entry. Returns null if the key does not exist. With `userId`, a revoked key or another user's
 * key counts as nonexistent. Without `userId`, a revoked key keeps its time of revocation. Call inside a transaction.
 */
export async function revokeApiKey(
  tx: Sql,
  { id, userId, actor }: { id: string; userId?: string; actor: AuditActor },
): Promise<RevokedKeyRow | null> {
  const key = await markApiKeyRevoked(tx, { id, userId });
  if (!key) return null;
  await insertAuditEntry(tx, {
    ...actor,
    action: "key.revoke",
    subject: { type: "api_key", id: key.id },
    orgId: key.orgId,
  });
  return key;
}
