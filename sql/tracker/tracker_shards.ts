/** Finds the rows of a project on a Citus cluster (docs/scaling.md). */
import { type NodeAddress, Nodes, type NodesOptions } from "../connection/nodes.ts";
import type { Sql } from "../connection/pool.ts";
import { hasDistributedFunctions } from "./tracker_functions.ts";

/** Names of shards by table, as SQL text. */
export type TrackerShards = Readonly<Record<string, string>>;

export interface TrackerPlace {
  node: NodeAddress;
  shards: TrackerShards;
}

/** Returns null if the tracker tables are not distributed. */
export async function openNodes(sql: Sql, options: NodesOptions): Promise<Nodes | null> {
  return (await hasDistributedFunctions(sql)) ? new Nodes(options) : null;
}

/** Returns the node that holds the rows of a project; null if the tracker tables are not distributed. */
export async function findTrackerPlace(sql: Sql, projectId: string): Promise<TrackerPlace | null> {
  const rows = await sql<{ trackerTable: string; shard: string; nodeHost: string; nodePort: number }[]>`
    select * from public.find_tracker_shards(${projectId})`;
  const [first] = rows;
  if (!first) return null;
  return {
    node: { host: first.nodeHost, port: first.nodePort },
    shards: Object.fromEntries(rows.map(({ trackerTable, shard }) => [trackerTable, shard])),
  };
}

/** Returns the nodes that hold tracker rows; none if the tracker tables are not distributed. */
export async function listTrackerNodes(sql: Sql): Promise<NodeAddress[]> {
  return sql<NodeAddress[]>`select node_host as host, node_port as port from public.list_tracker_nodes()`;
}
