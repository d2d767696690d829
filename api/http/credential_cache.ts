/** Looks each credential up at most once a second, so that every process refuses a revoked one within a second. */
import { LRUCache } from "lru-cache";
import type { Caller } from "./caller.ts";

/** Leaves a tenth of the second for the lookup itself. */
const MAX_AGE_MS = 900;
/** Some 5 MB of callers. */
const MAX_CALLERS = 10_000;

/** A caller as found in the database. */
export interface FoundCaller {
  caller: Caller;
  /** Time until the credential expires, by the database's clock; null if it does not expire. */
  expiresInMs: number | null;
}

type LookUp = () => Promise<FoundCaller | null>;

export type CredentialCache = ReturnType<typeof createCredentialCache>;

/** Creates an empty cache. Concurrent requests with one credential share a lookup. */
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
      // A lookup that began before a change may have read the old row. A TTL of 0 would mean forever.
      options.ttl = forgets === forgetsBefore ? Math.max(1, Math.floor(lifeMs)) : 1;
      return found.caller;
    },
  });
  return {
    /** Returns the caller whose credential has this hash, from the cache or by `lookUp`; null if it is unknown. */
    async find(hash: Buffer, lookUp: LookUp): Promise<Caller | null> {
      return (await callers.fetch(hash.toString("latin1"), { context: lookUp })) ?? null;
    },
    /**
     * Forgets the credential with this id, or all credentials of the user with this id, so that changes made by this
     * process take effect at once.
     */
    forget(id: string): void {
      forgets += 1;
      for (const [hash, caller] of callers.entries()) {
        if (caller.credential.id === id || caller.userId === id) callers.delete(hash);
      }
    },
  };
}
