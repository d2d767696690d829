/**
 * The chain of hashes over `audit_log`: the hash of an entry is the SHA-256 of the hash before it and of the entry with its
 * position. The database computes it, in `audit_entry_hash` and `seal_audit_log`
 * (sql/migrations/20261122140400_audit_chain__create.sql).
 */
import { onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** The newest entry of the chain. */
export interface AuditHead {
  /** Starts at 1; 0 while nothing is sealed. */
  position: number;
  /** Hex. */
  hash: string;
}

/** The two ends of the chain. */
export interface AuditChainRow {
  /** The last position that retention has deleted. */
  deletedPosition: number;
  /** Hex. */
  deletedHash: string;
  sealedPosition: number;
  /** Hex. */
  sealedHash: string;
}

/** Finds the two ends of the chain. */
export async function findAuditChain(sql: Sql): Promise<AuditChainRow> {
  return onlyRow(sql<[AuditChainRow]>`
    select
      deleted_position, encode(deleted_hash, 'hex') as deleted_hash,
      sealed_position, encode(sealed_hash, 'hex') as sealed_hash
    from audit_chain`);
}

/** Counts the unsealed entries and returns the age of the oldest. */
export async function findUnsealed(sql: Sql): Promise<{ count: number; oldestAt: string | null }> {
  return onlyRow(sql<[{ count: number; oldestAt: string | null }]>`
    select count(*)::int as count, min(occurred_at) as oldest_at
    from audit_log
    where position is null`);
}

/** An entry for verification. */
export interface ChainedEntryRow {
  id: number;
  occurredAt: string;
  position: number;
  /** Hex, like the others. */
  previousHash: string;
  hash: string;
  /** The hash computed from the row. */
  computedHash: string;
}

/** Lists the next entries of the chain after a position, in order. */
export async function listChainedEntries(
  sql: Sql,
  page: { after: number; limit: number },
): Promise<ChainedEntryRow[]> {
  return sql<ChainedEntryRow[]>`
    select
      a.id, a.occurred_at, a.position, encode(a.previous_hash, 'hex') as previous_hash,
      encode(a.hash, 'hex') as hash, encode(audit_entry_hash(a), 'hex') as computed_hash
    from audit_log a
    where a.position > ${page.after}
    order by a.position
    limit ${page.limit}`;
}

/**
 * Seals up to `limit` committed entries, oldest first, and returns their number; 0 while another process is sealing.
 */
export async function sealAuditLog(sql: Sql, limit: number): Promise<number> {
  return onlyValue(sql<[{ sealed: number }]>`select seal_audit_log(${limit}) as sealed`);
}

/**
 * Deletes up to `limit` sealed entries that are older than `days`, oldest first, and returns their number. The database
 * keeps every entry for 400 days, whatever `days` is.
 */
export async function deleteOldAuditEntries(
  sql: Sql,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  return onlyValue(sql<[{ deleted: number }]>`
    select delete_old_audit_entries(${limit}, ${days}) as deleted`);
}
