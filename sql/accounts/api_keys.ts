/** Table `api_keys`. Only the SHA-256 of a key is stored and compared. */
import type { KeyKind, KeyScope, PlatformRole } from "../../shared/vocabulary.ts";
import { firstRow, onlyRow, onlyValue, rawFragment, type Sql } from "../connection/pool.ts";
import type { MemberKey } from "./organization_members.ts";

/** The fields of a key that its owner can see. */
export interface ApiKeyRow {
  id: string;
  name: string | null;
  /** First characters of the key, for display. */
  prefix: string;
  kind: KeyKind;
  scope: KeyScope;
  /** The only organization that the key works for; null if the key works for all organizations of its owner. */
  organizationId: string | null;
  /** The time of the last use, accurate to the minute; null if the key was never used. */
  lastUsedAt: string | null;
  expiresAt: string | null;
  createdAt: string;
}

const COLUMNS = rawFragment(
  "id, name, prefix, kind, scope, org_id as organization_id, last_used_at, expires_at, created_at",
);

/** A valid key and its owner. */
export interface KeyCallerRow extends Pick<ApiKeyRow, "kind" | "scope" | "expiresAt"> {
  userId: string;
  username: string;
  platformRole: PlatformRole;
  keyId: string;
  orgId: string | null;
  /** Milliseconds until the key expires; null if the key never expires. */
  expiresInMs: number | null;
  /** True if `lastUsedAt` is null or more than a minute old and needs an update. */
  isUseStale: boolean;
}

/** Finds a key and its owner. Returns null if the key is unknown, revoked or expired, or if its owner is disabled. */
export async function findKeyCaller(sql: Sql, keyHash: Buffer): Promise<KeyCallerRow | null> {
  return firstRow(sql<KeyCallerRow[]>`
    select
      u.id as user_id, u.username, u.platform_role,
      k.id as key_id, k.kind, k.scope, k.org_id, k.expires_at,
      extract(epoch from k.expires_at - now()) * 1000 as expires_in_ms,
      (k.last_used_at is null or k.last_used_at < now() - interval '1 minute') as is_use_stale
    from api_keys k
    join users u on u.id = k.user_id
    where k.key_hash = ${keyHash}
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
      and u.disabled_at is null`);
}

/** Lists the keys of a user that are not revoked, newest first. Expired keys are included. */
export async function listApiKeys(sql: Sql, userId: string): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select ${COLUMNS}
    from api_keys
    where user_id = ${userId} and revoked_at is null
    order by created_at desc, id`;
}

/** Counts the keys of a user that are neither revoked nor expired. */
export async function countLiveApiKeys(sql: Sql, userId: string): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count
    from api_keys
    where user_id = ${userId} and revoked_at is null and (expires_at is null or expires_at > now())`);
}

export interface NewApiKey extends Pick<ApiKeyRow, "kind" | "scope" | "name" | "prefix" | "expiresAt"> {
  userId: string;
  orgId: string | null;
  keyHash: Buffer;
}

/** Stores the hash of a key and returns the key's row. `mintApiKey` in api/http/credentials.ts creates the key. */
export async function insertApiKey(sql: Sql, key: NewApiKey): Promise<ApiKeyRow> {
  return onlyRow(sql<[ApiKeyRow]>`
    insert into api_keys (user_id, org_id, kind, scope, name, prefix, key_hash, expires_at)
    values (
      ${key.userId}, ${key.orgId}, ${key.kind}, ${key.scope},
      ${key.name}, ${key.prefix}, ${key.keyHash}, ${key.expiresAt}
    )
    returning ${COLUMNS}`);
}

/** Updates a key's `lastUsedAt`, at most once a minute across all processes. */
export async function updateApiKeyLastUsed(sql: Sql, id: string): Promise<void> {
  await sql`
    update api_keys
    set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`;
}

export interface RevokedKeyRow {
  id: string;
  orgId: string | null;
  revokedAt: string;
}

/**
 * Revokes a key and returns it; null if the key does not exist. A key that is already revoked keeps its `revokedAt`. With `userId`,
 * also returns null if the key belongs to another user or is already revoked.
 */
export async function markApiKeyRevoked(
  sql: Sql,
  key: { id: string; userId?: string | undefined },
): Promise<RevokedKeyRow | null> {
  const { id, userId = null } = key;
  return firstRow(sql<RevokedKeyRow[]>`
    update api_keys
    set revoked_at = coalesce(revoked_at, now())
    where id = ${id} and (${userId}::uuid is null or user_id = ${userId} and revoked_at is null)
    returning id, org_id, revoked_at`);
}

/** Revokes a user's active keys that are bound to an organization, and returns the number of revoked keys. */
export async function markBoundApiKeysRevoked(sql: Sql, { userId, orgId }: MemberKey): Promise<number> {
  const { count } = await sql`
    update api_keys
    set revoked_at = now()
    where user_id = ${userId} and org_id = ${orgId} and revoked_at is null`;
  return count;
}
