/** Caches callers for less than a second, so that every process rejects a revoked credential within a second. */
import { LRUCache } from "lru-cache";
import type { Caller } from "./caller.ts";

/** Leaves a tenth of the second for the lookup. */
const MAX_AGE_MS = 900;
/** Takes about 5 MB. */
const MAX_CALLERS = 10_000;

/** The result of a lookup in the database. */
export interface FoundCaller {
  caller: Caller;
  /** Time until the credential expires, by the database's clock; null if it does not expire. */
  expiresInMs: number | null;
}

type LookUp = () => Promise<FoundCaller | null>;

export type CredentialCache = ReturnType<typeof createCredentialCache>;

/** Creates an empty cache. Concurrent requests with the same credential share a lookup. */
export function createCredentialCache() {
  let forgets = 0;
  const callers = new LRUCache<string, Caller, LookUp>({
    max: MAX_CALLERS,
    ttl: MAX_AGE_MS,
    ttlResolution: 0,
    fetchMethod: async (_hash, _stale, { options, context: lookUp }) => {
      const askedAt = performance.now();
      const forgetsBefore = forgets;
      const found = await lookUp();
      if (!found) return undefined;
      const lifeMs = Math.min(MAX_AGE_MS, found.expiresInMs ?? MAX_AGE_MS) - (performance.now() - askedAt);
      // A lookup that began before `forget` was called may have read the old row. A TTL of 0 would never expire.
      options.ttl = forgets === forgetsBefore ? Math.max(1, Math.floor(lifeMs)) : 1;
      return found.caller;
    },
  });
  return {
    /** Returns the caller of the credential with this hash, from the cache or from `lookUp`; null if the hash is unknown. */
    async find(hash: Buffer, lookUp: LookUp): Promise<Caller | null> {
      return (await callers.fetch(hash.toString("latin1"), { context: lookUp })) ?? null;
    },
    /**
     * Removes the credential with this id, or all credentials of the user with this id. Changes made by this process then take
     * effect at once.
     */
    forget(id: string): void {
      forgets += 1;
      for (const [hash, caller] of callers.entries()) {
        if (caller.credential.id === id || caller.userId === id) callers.delete(hash);
      }
    },
  };
}
