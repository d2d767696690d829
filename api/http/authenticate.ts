/** Resolves the Authorization header to the caller. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/process/log.ts";
import { findKeyCaller, updateApiKeyLastUsed } from "../../sql/accounts/api_keys.ts";
import { findSessionCaller, updateSessionLastUsed } from "../../sql/accounts/sessions.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { Caller } from "./caller.ts";
import type { CredentialCache, FoundCaller } from "./credential_cache.ts";
import { hashSecret, hasValidChecksum, KEY_PREFIX, type SentCredential } from "./credentials.ts";

/** Returns the caller of a credential. Throws `UNAUTHORIZED` if it is unknown, revoked or expired. */
export type Authenticate = (sent: SentCredential) => Promise<Caller>;

/** Format of keys and session tokens. Any other value is rejected without a query. */
const BEARER = /^bearer +(ul[rs]_[A-Za-z0-9_-]{32,128})$/i;

interface AuthenticateDeps {
  sql: Sql;
  log: Log;
  callers: CredentialCache;
}

/** Creates the function that checks credentials. Its only state is the set of credentials whose `lastUsedAt` is being updated. */
export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const pendingUses = new Set<string>();

  /** Updates `lastUsedAt`. Requests do not await it. */
  async function noteUse(
    credentialId: string,
    update: (sql: Sql, id: string) => Promise<void>,
  ): Promise<void> {
    if (pendingUses.has(credentialId)) return;
    pendingUses.add(credentialId);
    try {
      await update(deps.sql, credentialId);
    } catch (error) {
      deps.log.warn({ credentialId, err: error }, "cannot note the use of a credential");
    } finally {
      pendingUses.delete(credentialId);
    }
  }

  async function findByKey(hash: Buffer): Promise<FoundCaller | null> {
    const row = await findKeyCaller(deps.sql, hash);
    if (!row) return null;
    if (row.isUseStale) void noteUse(row.keyId, updateApiKeyLastUsed);
    const { userId, username, platformRole, keyId, kind, scope, orgId, expiresAt, expiresInMs } = row;
    const credential = { type: "key", id: keyId, kind, scope, orgId, expiresAt } as const;
    return { caller: { userId, username, platformRole, credential }, expiresInMs };
  }

  async function findBySession(hash: Buffer): Promise<FoundCaller | null> {
    const row = await findSessionCaller(deps.sql, hash);
    if (!row) return null;
    if (row.isUseStale) void noteUse(row.sessionId, updateSessionLastUsed);
    const { userId, username, platformRole, sessionId, expiresAt, expiresInMs, isProven } = row;
    const credential = { type: "session", id: sessionId, expiresAt, isProven } as const;
    return { caller: { userId, username, platformRole, credential }, expiresInMs };
  }

  return async ({ hash, isKey }) => {
    const caller = await deps.callers.find(hash, () => (isKey ? findByKey(hash) : findBySession(hash)));
    if (!caller) throw unauthorized(TEXTS.UNAUTHORIZED.credential);
    return caller;
  };
}

/** Parses the Authorization header. Throws `UNAUTHORIZED` if it cannot be a credential of this service. */
export function readCredential(authorization: string): SentCredential {
  const [, secret] = BEARER.exec(authorization.trim()) ?? [];
  if (!secret) throw unauthorized(TEXTS.UNAUTHORIZED.header);
  const isKey = secret.startsWith(KEY_PREFIX);
  if (isKey && !hasValidChecksum(secret)) throw unauthorized(TEXTS.UNAUTHORIZED.checksum);
  return { isKey, hash: hashSecret(secret) };
}

/** Returns the error for a missing or invalid credential. */
export function unauthorized(message?: string): ApiError {
  return new ApiError("UNAUTHORIZED", { message });
}
