/** Opens the snapshot of an export on the node that holds the project (docs/scaling.md). */
import { type Node, type Nodes, NodeUnavailable } from "../connection/nodes.ts";
import { hasSqlState, type Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import {
  findTrackerPlace,
  hasDistributedFunctions,
  listTrackerNodes,
  type TrackerShards,
} from "../tracker/tracker_shards.ts";

/** SQLSTATE undefined_table: the shard has moved to another node, and the old copy has been dropped. */
const UNDEFINED_TABLE = "42P01";
const ATTEMPTS = 3;

export interface NodeSnapshot {
  node: Node;
  shards: TrackerShards;
  snapshot: ExportSnapshot;
}

/**
 * Opens a snapshot on the node that holds the project; null if the tracker tables are not distributed. `settle` settles
 * the watermark with that node. Afterwards the coordinator is asked for the node again: if it is still the same, the node
 * has all rows committed before the watermark, even while the project is being moved. Throws NodeUnavailable if a node
 * cannot be reached, or if the project has moved at every try.
 */
export async function openOnNode(
  source: { sql: Sql; nodes: Nodes | null; projectId: string; signal: AbortSignal },
  settle: (node: Node) => Promise<unknown> = async () => {},
): Promise<NodeSnapshot | null> {
  const { sql, nodes, projectId, signal } = source;
  if (nodes === null) return null;
  let place = await findTrackerPlace(sql, projectId);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (place === null) return null;
    const { shards } = place;
    const node = nodes.at(place.node);
    await settle(node);
    place = await findTrackerPlace(sql, projectId);
    if (place === null || nodes.at(place.node) !== node) continue;
    try {
      return { node, shards, snapshot: await node.openSnapshot(Object.values(shards), signal) };
    } catch (error) {
      if (!hasSqlState(error, UNDEFINED_TABLE)) throw error;
    }
  }
  throw new NodeUnavailable("The project is being moved from one database node to another");
}

/**
 * Closes the snapshot and throws NodeUnavailable if the tables were distributed after this process started: then it knows no
 * nodes, and two connections to the coordinator read two snapshots.
 */
export async function requireOneMachine(snapshot: ExportSnapshot, nodes: Nodes | null): Promise<void> {
  if (nodes !== null || !snapshot.isDistributed) return;
  await snapshot.close();
  throw distributedSinceStart();
}

/**
 * Lists the nodes whose writes hold back the watermark of all projects; none if the tables are not distributed. Throws
 * NodeUnavailable if they were distributed after this process started.
 */
export async function listNodes(sql: Sql, nodes: Nodes | null): Promise<Node[]> {
  if (nodes !== null) return (await listTrackerNodes(sql)).map((address) => nodes.at(address));
  if (await hasDistributedFunctions(sql)) throw distributedSinceStart();
  return [];
}

function distributedSinceStart(): NodeUnavailable {
  return new NodeUnavailable("The tracker tables were distributed after this process started. Restart it");
}
