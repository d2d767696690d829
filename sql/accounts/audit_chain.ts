/**
 * The hash chain over `audit_log`. An entry's hash is the SHA-256 of the previous hash, the entry and its position. The database
 * computes the hashes, in `audit_entry_hash` and `seal_audit_log` (sql/migrations/20261122140400_audit_chain__create.sql).
 */
import { onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** The newest sealed entry of the chain. */
export interface AuditHead {
  /** The position of the entry, counted from 1; 0 if no entry is sealed. */
  position: number;
  /** The hash of the entry, in hex. */
  hash: string;
}

/** The start and the end of the chain: the last deleted and the last sealed entry. */
export interface AuditChainRow {
  /** The position of the last entry that retention deleted; 0 before the first deletion. */
  deletedPosition: number;
  /** The hash at `deletedPosition`, in hex. */
  deletedHash: string;
  sealedPosition: number;
  /** The hash at `sealedPosition`, in hex. */
  sealedHash: string;
}

/** Returns the start and the end of the chain. */
export async function findAuditChain(sql: Sql): Promise<AuditChainRow> {
  return onlyRow(sql<[AuditChainRow]>`
    select
      deleted_position, encode(deleted_hash, 'hex') as deleted_hash,
      sealed_position, encode(sealed_hash, 'hex') as sealed_hash
    from audit_chain`);
}

/** Returns the number of unsealed entries and the time of the oldest one, which is null if all entries are sealed. */
export async function findUnsealed(sql: Sql): Promise<{ count: number; oldestAt: string | null }> {
  return onlyRow(sql<[{ count: number; oldestAt: string | null }]>`
    select count(*)::int as count, min(occurred_at) as oldest_at
    from audit_log
    where position is null`);
}

/** A sealed entry with the hashes for its verification. */
export interface ChainedEntryRow {
  id: number;
  occurredAt: string;
  position: number;
  /** The hash of the previous entry. All hashes are in hex. */
  previousHash: string;
  hash: string;
  /** The hash that the database computes from the current row. */
  computedHash: string;
}

/** Lists the entries after a position, in the order of the chain. */
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
 * Seals up to `limit` committed entries, oldest first, and returns their number. Returns 0 while another process is sealing
 * entries.
 */
export async function sealAuditLog(sql: Sql, limit: number): Promise<number> {
  return onlyValue(sql<[{ sealed: number }]>`select seal_audit_log(${limit}) as sealed`);
}

/**
 * Deletes up to `limit` sealed entries that are older than `days`, oldest first, and returns their number. The database keeps every
 * entry for at least 400 days, even if `days` is lower.
 */
export async function deleteOldAuditEntries(
  sql: Sql,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  return onlyValue(sql<[{ deleted: number }]>`
    select delete_old_audit_entries(${limit}, ${days}) as deleted`);
}
