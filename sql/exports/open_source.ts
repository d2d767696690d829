/**
 * Chooses the database that an export reads from. If the tracker tables are distributed, it is the node with the project's
 * shards (docs/scaling.md). Otherwise it is the replica while it keeps up (docs/replica.md), or else the primary.
 */
import type { Config } from "../../shared/process/config.ts";
import { type Node, type Nodes, NodeUnavailable } from "../connection/nodes.ts";
import { hasSqlState, type Pool, type Sql } from "../connection/pool.ts";
import type { Replica, WalPosition } from "../connection/replica.ts";
import { type ExportSnapshot, openExportSnapshot } from "../connection/snapshot.ts";
import {
  findTrackerPlace,
  hasDistributedFunctions,
  listTrackerNodes,
  type TrackerShards,
} from "../tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../tracker/tracker_tables.ts";

/** SQLSTATE undefined_table: the shard has moved to another node, and the old copy has been dropped. */
const UNDEFINED_TABLE = "42P01";
const ATTEMPTS = 3;

/** The databases of a process. */
export interface SourceDatabases {
  sql: Pool;
  /** Connection pool of the primary for long reads. */
  exportSql: Pool;
  replica: Replica | null;
  nodes: Nodes | null;
  config: Pick<Config, "trackerSchema">;
}

/** A snapshot and the database that it was taken on: `node`, `replica`, or the primary if both are null. */
export interface ExportSource {
  /** The cutoff that `settle` returned. */
  asOf: string;
  snapshot: ExportSnapshot;
  /** The shards to read instead of the tracker tables; null to read the tables. */
  shards: TrackerShards | null;
  node: Node | null;
  replica: Replica | null;
}

interface SourceOptions {
  projectId: string;
  signal: AbortSignal;
  /** Settles the cutoff before the snapshot is taken. `nodes` are the nodes whose writes could hold it back. */
  settle: (nodes: readonly Node[]) => Promise<string>;
  /** Reads the WAL position that the replica must have reached. By default, it is the primary's position after `settle`. */
  readPosition?: () => Promise<WalPosition | null>;
}

/**
 * Opens the snapshot of an export. Passes on the errors of `settle`. Throws NodeUnavailable if the node cannot be reached or the
 * project moves during every attempt. Also throws NodeUnavailable if the tables were distributed after this process started,
 * because the process then does not know the nodes.
 */
export async function openSource(databases: SourceDatabases, options: SourceOptions): Promise<ExportSource> {
  const { sql, exportSql, replica, nodes, config } = databases;
  const { signal, settle } = options;
  const isOwn = config.trackerSchema === OWN_TRACKER_SCHEMA;
  const onNode = isOwn && nodes ? await openOnNode(sql, nodes, options) : null;
  if (onNode) return onNode;
  const asOf = await settle([]);
  // The snapshot shows everything committed before this position, and therefore all rows up to the cutoff.
  const position = (await (options.readPosition?.() ?? replica?.readPosition())) ?? null;
  const fromReplica = position && replica ? await replica.openSnapshot(position, signal) : null;
  const snapshot = fromReplica ?? (await openExportSnapshot(exportSql, { control: sql, signal }));
  if (isOwn && nodes === null && snapshot.isDistributed) {
    // Without the nodes, two connections to the coordinator would read different snapshots.
    await snapshot.close();
    throw distributedSinceStart();
  }
  return { asOf, snapshot, shards: null, node: null, replica: fromReplica ? replica : null };
}

/**
 * Opens a snapshot on the node with the project's shards; null if the tables are not distributed. Settles the cutoff with that
 * node, then looks up the project's node again. If the project is still there, the node has all rows committed before the cutoff,
 * even while the project is being moved.
 */
async function openOnNode(
  sql: Sql,
  nodes: Nodes,
  { projectId, signal, settle }: SourceOptions,
): Promise<ExportSource | null> {
  let place = await findTrackerPlace(sql, projectId);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (place === null) return null;
    const { shards } = place;
    const node = nodes.at(place.node);
    const asOf = await settle([node]);
    place = await findTrackerPlace(sql, projectId);
    if (place === null || nodes.at(place.node) !== node) continue;
    try {
      const snapshot = await node.openSnapshot(Object.values(shards), signal);
      return { asOf, snapshot, shards, node, replica: null };
    } catch (error) {
      if (!hasSqlState(error, UNDEFINED_TABLE)) throw error;
    }
  }
  throw new NodeUnavailable("The project is being moved from one database node to another");
}

/**
 * Returns the nodes whose writes hold back the watermark of all projects; empty if the tables are not distributed. Throws
 * NodeUnavailable if the tables were distributed after this process started.
 */
export async function listNodes(sql: Sql, nodes: Nodes | null): Promise<Node[]> {
  if (nodes !== null) return (await listTrackerNodes(sql)).map((address) => nodes.at(address));
  if (await hasDistributedFunctions(sql)) throw distributedSinceStart();
  return [];
}

function distributedSinceStart(): NodeUnavailable {
  return new NodeUnavailable("The tracker tables were distributed after this process started. Restart it");
}
