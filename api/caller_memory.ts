/** Remembers for some seconds who a credential stands for, and forgets it when that changes. */
import type { Log } from "../shared/log.ts";
import { followCredentialChanges } from "../sql/credential_changes.ts";
import type { Pool } from "../sql/pool.ts";
import type { Caller } from "./authenticate.ts";

/** However well changes are told: what was looked up is looked up again after this long. */
const REMEMBER_MS = 5_000;
/** Some 5 MB of callers. */
const MOST_CALLERS = 10_000;

/** A caller as the database tells of them. */
export interface FoundCaller {
  caller: Caller;
  /** How long the credential works yet, by the database's clock; `null` when it does not expire. */
  expiresInMs: number | null;
}

export interface CallerMemory {
  /** Who the credential with this hash stands for: remembered, or looked up. `null` when there is nobody. */
  find(hash: Buffer, lookUp: (hash: Buffer) => Promise<FoundCaller | null>): Promise<Caller | null>;
  /** Forgets a credential, or all of a user's, by its id: what this process changes itself need not be told. */
  forget(id: string): void;
}

/** Opens the memory. It holds no timer, and no connection but one of the pool's for listening. */
export function openCallerMemory({ sql, log }: { sql: Pool; log: Log }): CallerMemory {
  const known = new Map<string, { caller: Caller; until: number }>();
  /** Counts what was forgotten, so that nothing looked up before is remembered after. */
  let forgotten = 0;

  function forget(id: string): void {
    forgotten += 1;
    for (const [key, { caller }] of known) {
      if (caller.credential.id === id || caller.userId === id) known.delete(key);
    }
  }

  function forgetAll(): void {
    forgotten += 1;
    known.clear();
  }

  function remember(key: string, { caller, expiresInMs }: FoundCaller, askedAt: number): void {
    known.delete(key);
    const [oldest] = known.keys();
    if (known.size >= MOST_CALLERS && oldest !== undefined) known.delete(oldest);
    known.set(key, { caller, until: askedAt + Math.min(REMEMBER_MS, expiresInMs ?? REMEMBER_MS) });
  }

  const changes = followCredentialChanges({ sql, log, onChange: forget, onGap: forgetAll });

  return {
    async find(hash, lookUp) {
      const key = hash.toString("latin1");
      const askedAt = performance.now();
      const remembered = known.get(key);
      if (changes.isCurrent() && remembered && askedAt < remembered.until) return remembered.caller;
      const forgottenBefore = forgotten;
      const found = await lookUp(hash);
      if (found && forgotten === forgottenBefore) remember(key, found, askedAt);
      return found?.caller ?? null;
    },
    forget,
  };
}
