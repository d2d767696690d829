/** Chooses where a build reads: the replica while it keeps up, otherwise the primary. */

import type { Pool } from "../sql/connection/pool.ts";
import type { Replica } from "../sql/connection/replica.ts";
import type { WalPosition } from "../sql/connection/replica_position.ts";
import { type ExportSnapshot, openExportSnapshot } from "../sql/connection/snapshot.ts";
import type { ExportJobRow } from "../sql/exports/jobs.ts";

export type OpenSnapshot = () => Promise<ExportSnapshot>;

/**
 * Opens the snapshots of one build. They show everything committed before the build began: thousands of small projects
 * need one position of the primary. A second attempt reads from the primary only, so that no build fails again and
 * again for queries that the replica cancels.
 */
export function createOpenSnapshot(
  deps: { sql: Pool; exportSql: Pool; replica: Replica | null },
  { job, signal }: { job: ExportJobRow; signal: AbortSignal },
): OpenSnapshot {
  const replica = job.attempt === 1 ? deps.replica : null;
  let position: WalPosition | null = null;
  return async () => {
    position ??= (await replica?.readPosition()) ?? null;
    const snapshot = position && replica ? await replica.openSnapshot(position, signal) : null;
    if (snapshot) return snapshot;
    // After a failover the position is meaningless.
    position = null;
    return openExportSnapshot(deps.exportSql, { control: deps.sql, signal });
  };
}
