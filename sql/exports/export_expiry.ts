/**
 * Finds expired organization exports, and the files that are still needed. An export's expiry is set when the export becomes
 * ready (build_attempts.ts). The sweep in jobs/delete_expired_exports.ts deletes the files.
 */
import type { ExportJobStatus } from "../../shared/vocabulary.ts";
import { anyRow, type Sql } from "../connection/pool.ts";

/** Returns the condition that an export has expired, even if the sweep has not run yet; null if the export was never ready. */
export function isPastExpiry(sql: Sql) {
  return sql`(expires_at <= now())`;
}

/** An export's position in the order of expiry. */
export interface ExpiryKey {
  id: string;
  expiresAt: string;
}

export interface ExpiredExportRow extends ExpiryKey {
  orgId: string;
  artifactKey: string;
  /** Milliseconds since the export expired. */
  ageMs: number;
}

/** Returns ready exports whose retention has ended, oldest first, from the position `after` or from the beginning. */
export async function listPastExpiry(
  sql: Sql,
  page: { after: ExpiryKey | null; limit: number },
): Promise<readonly ExpiredExportRow[]> {
  const { after } = page;
  return sql<ExpiredExportRow[]>`
    select id, org_id, artifact_key, expires_at,
      extract(epoch from now() - expires_at)::float8 * 1000 as age_ms
    from export_jobs
    where status = 'ready' and ${isPastExpiry(sql)}
      ${after ? sql`and (expires_at, id) > (${after.expiresAt}, ${after.id})` : sql``}
    order by expires_at, id
    limit ${page.limit}`;
}

/** Returns whether the artifact store should contain the file of at least one export. */
export async function existsKeptExport(sql: Sql): Promise<boolean> {
  return anyRow(sql`select from export_jobs where status = 'ready' and not ${isPastExpiry(sql)} limit 1`);
}

/** The fields that decide whether a file of a job is still needed. */
export interface ArtifactOwnerRow {
  id: string;
  status: ExportJobStatus;
  attempt: number;
  artifactKey: string | null;
}

/** Returns the jobs among `ids` that exist. */
export async function listArtifactOwners(
  sql: Sql,
  ids: readonly string[],
): Promise<readonly ArtifactOwnerRow[]> {
  return sql<ArtifactOwnerRow[]>`
    select id, status, attempt, artifact_key
    from export_jobs
    where id = any(${sql.array([...ids])}::uuid[])`;
}

/**
 * Marks an export as expired. Call after deleting its artifact. Returns false if another sweep has already marked it. Keeps
 * `finished_at`, the time when the build finished.
 */
export async function markExportJobExpired(sql: Sql, id: string): Promise<boolean> {
  const { count } = await sql`
    update export_jobs
    set status = 'expired'
    where id = ${id} and status = 'ready' and ${isPastExpiry(sql)}`;
  return count === 1;
}
