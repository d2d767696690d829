/**
 * Remembers for some seconds who a credential stands for, if it is asked for so often that looking it up costs something,
 * and forgets it when that changes. Any other is looked up on every request, and so is right to the instant.
 */
import type { Log } from "../shared/log.ts";
import { followCredentialChanges } from "../sql/credential_changes.ts";
import type { Pool } from "../sql/pool.ts";
import type { Caller } from "./authenticate.ts";

/** However well changes are told: what was looked up is looked up again after this long. */
const REMEMBER_MS = 5_000;
/** Asked for so often within a second, a credential is worth remembering. */
const OFTEN = 16;
const OFTEN_WITHIN_MS = 1_000;
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

interface Remembered {
  caller: Caller;
  /** By `performance.now()`. */
  until: number;
  /** How often it was asked for since then, and whether it was often in the second before. */
  uses: number;
  since: number;
  wasOften: boolean;
}

/** Counts one more use, and says whether there are many of late. */
function isUsedOften(remembered: Remembered, now: number): boolean {
  const passed = now - remembered.since;
  if (passed > OFTEN_WITHIN_MS) {
    remembered.wasOften = remembered.uses > OFTEN && passed < 2 * OFTEN_WITHIN_MS;
    remembered.since = now;
    remembered.uses = 0;
  }
  remembered.uses += 1;
  return remembered.wasOften || remembered.uses > OFTEN;
}

/** Opens the memory. It holds no timer, and no connection but one of the pool's for listening. */
export function openCallerMemory({ sql, log }: { sql: Pool; log: Log }): CallerMemory {
  const known = new Map<string, Remembered>();
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
    const { uses = 1, since = askedAt, wasOften = false } = known.get(key) ?? {};
    known.delete(key);
    const [oldest] = known.keys();
    if (known.size >= MOST_CALLERS && oldest !== undefined) known.delete(oldest);
    const until = askedAt + Math.min(REMEMBER_MS, expiresInMs ?? REMEMBER_MS);
    known.set(key, { caller, until, uses, since, wasOften });
  }

  const changes = followCredentialChanges({ sql, log, onChange: forget, onGap: forgetAll });

  return {
    async find(hash, lookUp) {
      const key = hash.toString("latin1");
      const askedAt = performance.now();
      const remembered = known.get(key);
      const isWorthIt = remembered !== undefined && isUsedOften(remembered, askedAt);
      if (isWorthIt && askedAt < remembered.until && changes.isCurrent()) return remembered.caller;
      const forgottenBefore = forgotten;
      const found = await lookUp(hash);
      if (found && forgotten === forgottenBefore) remember(key, found, askedAt);
      return found?.caller ?? null;
    },
    forget,
  };
}
