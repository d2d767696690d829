/** Looks each credential up at most once a second, so that every process refuses a revoked one within a second. */
import { LRUCache } from "lru-cache";
import type { Caller } from "./caller.ts";

/** Leaves the look-up itself a tenth of the second. */
const MAX_AGE_MS = 900;
/** Some 5 MB of callers. */
const MAX_CALLERS = 10_000;

/** A caller as the database knows them. */
export interface FoundCaller {
  caller: Caller;
  /** How long the credential works yet, by the database's clock; `null` when it does not expire. */
  expiresInMs: number | null;
}

type LookUp = () => Promise<FoundCaller | null>;

export interface CredentialCache {
  /** The caller whose credential has this hash: cached or looked up. `null` when there is none. */
  find(hash: Buffer, lookUp: LookUp): Promise<Caller | null>;
  /** Forgets a credential by its id, or all of a user's by theirs: this process need not wait for its own changes. */
  forget(id: string): void;
}

/** Opens an empty cache. Requests that come while a credential is being looked up share the response. */
export function createCredentialCache(): CredentialCache {
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
      // What was read before a change may be older than the change. (A life of 0 would mean for ever.)
      options.ttl = forgets === forgetsBefore ? Math.max(1, Math.floor(lifeMs)) : 1;
      return found.caller;
    },
  });
  return {
    find: async (hash, lookUp) => (await callers.fetch(hash.toString("latin1"), { context: lookUp })) ?? null,
    forget(id) {
      forgets += 1;
      for (const [hash, caller] of callers.entries()) {
        if (caller.credential.id === id || caller.userId === id) callers.delete(hash);
      }
    },
  };
}
