/**
 * All advisory locks of the service and its tests. PostgreSQL identifies advisory locks by number only, so all numbers are declared
 * here. Do not hold an advisory lock while waiting for the network.
 */
import { type Fragment, fragment, onlyValue, type Sql } from "./connection/pool.ts";

/** Never reuse the number of a removed lock, because an old process may still use it. */
export const LOCKS = {
  /** Serializes migrators. */
  migrate: 7_311_001,
  /** Serializes the test processes that create the template database. */
  testTemplate: 7_311_002,
  /** Serializes publications with references. Two concurrent publications that refer to each other would not see the cycle. */
  dependencyGraph: 7_311_003,
  /** Serializes runs of `demo seed`. */
  demoSeed: 7_311_004,
  /** Held by a catalog sync while it stores data. A concurrent sync gives up. */
  catalogSync: 7_311_005,
  /** Serializes imports that advance the sequence of `status_history.seq`. */
  statusSequence: 7_311_006,
} as const;

export type LockName = keyof typeof LOCKS;

/** A lock on one row, email address or network. The lock's number is a 64-bit hash of `name` and `id`. */
interface RowLock {
  name: "account_mail" | "account_mail_network" | "definition_quotas" | "export_mail" | "project_import";
  id: string;
}

/** Waits for a lock and holds it until the transaction ends. Call inside a transaction. */
export async function lockTransaction(tx: Sql, lock: LockName | RowLock): Promise<void> {
  await tx`select pg_advisory_xact_lock(${numberOf(lock)})`;
}

/**
 * Tries to acquire a lock that is held until the transaction ends. Returns false if another transaction holds the lock. Call inside
 * a transaction.
 */
export async function tryLockTransaction(tx: Sql, lock: LockName | RowLock): Promise<boolean> {
  return onlyValue(tx<[{ isLocked: boolean }]>`
    select pg_try_advisory_xact_lock(${numberOf(lock)}) as is_locked`);
}

/** Waits for a lock and holds it until the connection ends. Do not call it with a pool. */
export async function lockSession(connection: Sql, name: LockName): Promise<void> {
  await connection`select pg_advisory_lock(${LOCKS[name]})`;
}

/**
 * Tries to acquire a lock that is held until the connection ends. Returns false if another session holds the lock. Do not call it
 * with a pool.
 */
export async function tryLockSession(connection: Sql, name: LockName): Promise<boolean> {
  return onlyValue(connection<[{ isLocked: boolean }]>`
    select pg_try_advisory_lock(${LOCKS[name]}) as is_locked`);
}

function numberOf(lock: LockName | RowLock): Fragment {
  if (typeof lock === "string") return fragment`${LOCKS[lock]}::bigint`;
  return fragment`hashtextextended(${`${lock.name} ${lock.id}`}, 0)`;
}
