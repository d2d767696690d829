/** Quarantines and releases versions or whole lines, for operators. */
import { firstValue, type Sql } from "../connection/pool.ts";

/** A line, or one version of a line, that an operator selects. */
export interface QuarantineTarget {
  lineId: string;
  /** Version number; null selects the whole line, including later versions. */
  version: string | null;
}

/** The result of a quarantine or release. */
export interface QuarantineChange {
  /** Id of the version or line. */
  id: string;
  quarantinedAt: string | null;
  /** Number of versions changed. */
  versions: number;
}

/**
 * Locks a line with its versions and returns the time when the whole line was quarantined; null if it is not quarantined. Locks the
 * versions before the line, as other writers do. Call inside a transaction.
 */
export async function lockLineQuarantine(sql: Sql, lineId: string): Promise<string | null> {
  await sql`
    select
    from definitions
    where line_id = ${lineId}
    order by id
    for no key update`;
  return firstValue(sql<{ quarantinedAt: string | null }[]>`
    select quarantined_at
    from definition_lines
    where id = ${lineId}
    for no key update`);
}

/**
 * Quarantines a line or version, or releases it if `reason` is null. Returns null if nothing changes. Call inside a transaction
 * that has locked the line.
 */
export async function updateQuarantine(
  sql: Sql,
  { lineId, version, reason }: QuarantineTarget & { reason: string | null },
): Promise<QuarantineChange | null> {
  const isRelease = reason === null;
  const change = sql`quarantined_at = ${isRelease ? sql`null` : sql`now()`}, quarantine_reason = ${reason}`;
  const isChanged = isRelease ? sql`quarantined_at is not null` : sql`quarantined_at is null`;
  const [line] =
    version === null
      ? await sql<Omit<QuarantineChange, "versions">[]>`
          update definition_lines
          set ${change}
          where id = ${lineId} and ${isChanged}
          returning id, quarantined_at`
      : [];
  if (version === null && !line) return null;
  const versions = await sql<Omit<QuarantineChange, "versions">[]>`
    update definitions
    set ${change}
    where line_id = ${lineId} and ${isChanged} and (${version}::text is null or version = ${version})
    returning id, quarantined_at`;
  const changed = line ?? versions[0];
  return changed ? { ...changed, versions: versions.length } : null;
}
