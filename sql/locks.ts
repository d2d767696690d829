/**
 * All advisory locks of the service and its tests. PostgreSQL identifies them by number only, so all numbers are declared
 * here. Hold none while waiting for the network.
 */
import { type Fragment, fragment, onlyValue, type Sql } from "./connection/pool.ts";

/** Never reuse the number of a removed lock: an old process may still run. */
export const LOCKS = {
  /** Two migrators take turns. */
  migrate: 7_311_001,
  /** Test processes create one template database. */
  testTemplate: 7_311_002,
  /** Publications with references take turns: two that refer to each other would not see the cycle. */
  dependencyGraph: 7_311_003,
  /** Two `demo seed` take turns. */
  demoSeed: 7_311_004,
  /** If two catalog syncs store at the same time, the second one gives up. */
  catalogSync: 7_311_005,
  /** Two imports advance the sequence of `status_history.seq` in turns. */
  statusSequence: 7_311_006,
} as const;

export type LockName = keyof typeof LOCKS;

/** The lock of one row, email address or network. Its number is a 64-bit hash of both. */
interface RowLock {
  name: "account_mail" | "account_mail_network" | "definition_quotas" | "export_mail" | "project_import";
  id: string;
}

/** Waits for the lock and holds it until the transaction ends. Call inside a transaction. */
export async function lockTransaction(tx: Sql, lock: LockName | RowLock): Promise<void> {
  await tx`select pg_advisory_xact_lock(${numberOf(lock)})`;
}

/** Takes the lock until the transaction ends; false if another transaction holds it. Call inside a transaction. */
export async function tryLockTransaction(tx: Sql, lock: LockName | RowLock): Promise<boolean> {
  return onlyValue(tx<[{ isLocked: boolean }]>`
    select pg_try_advisory_xact_lock(${numberOf(lock)}) as is_locked`);
}

/** Waits for the lock, which is held until the connection ends. Not for a pool. */
export async function lockSession(connection: Sql, name: LockName): Promise<void> {
  await connection`select pg_advisory_lock(${LOCKS[name]})`;
}

/** Takes the lock like `lockSession`; false if another session holds it. */
export async function tryLockSession(connection: Sql, name: LockName): Promise<boolean> {
  return onlyValue(connection<[{ isLocked: boolean }]>`
    select pg_try_advisory_lock(${LOCKS[name]}) as is_locked`);
}

function numberOf(lock: LockName | RowLock): Fragment {
  if (typeof lock === "string") return fragment`${LOCKS[lock]}::bigint`;
  return fragment`hashtextextended(${`${lock.name} ${lock.id}`}, 0)`;
}
