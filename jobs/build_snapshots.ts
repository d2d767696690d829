/** Chooses where a build reads: the node that holds a project, the replica while it keeps up, otherwise the primary. */

import type { Config } from "../shared/process/config.ts";
import type { Nodes } from "../sql/connection/nodes.ts";
import type { Pool } from "../sql/connection/pool.ts";
import type { Replica } from "../sql/connection/replica.ts";
import type { WalPosition } from "../sql/connection/replica_position.ts";
import { type ExportSnapshot, openExportSnapshot } from "../sql/connection/snapshot.ts";
import type { ExportJobRow } from "../sql/exports/jobs.ts";
import { openOnNode } from "../sql/exports/open_on_node.ts";
import type { TrackerShards } from "../sql/tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../sql/tracker/tracker_tables.ts";

export interface BuildSnapshot {
  snapshot: ExportSnapshot;
  /** What to read there in place of the tracker tables; null for the tables. */
  shards: TrackerShards | null;
}

/** Opens a snapshot that shows a project. */
export type OpenSnapshot = (projectId: string) => Promise<BuildSnapshot>;

/**
 * Opens the snapshots of one build. They show everything committed before the build began: thousands of small projects
 * need one position of the primary. A second attempt reads from the primary only, so that no build fails again and
 * again for queries that the replica cancels.
 */
export function createOpenSnapshot(
  deps: {
    config: Pick<Config, "trackerSchema">;
    sql: Pool;
    exportSql: Pool;
    replica: Replica | null;
    nodes: Nodes;
  },
  { job, signal }: { job: ExportJobRow; signal: AbortSignal },
): OpenSnapshot {
  const replica = job.attempt === 1 ? deps.replica : null;
  let position: WalPosition | null = null;
  return async (projectId) => {
    const { sql, nodes, config } = deps;
    const isOwn = config.trackerSchema === OWN_TRACKER_SCHEMA;
    const onNode = isOwn ? await openOnNode({ sql, nodes, projectId, signal }) : null;
    if (onNode) return onNode;
    position ??= (await replica?.readPosition()) ?? null;
    const snapshot = position && replica ? await replica.openSnapshot(position, signal) : null;
    if (snapshot) return { snapshot, shards: null };
    // After a failover the position is meaningless.
    position = null;
    return { snapshot: await openExportSnapshot(deps.exportSql, { control: sql, signal }), shards: null };
  };
}
