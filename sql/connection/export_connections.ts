/** Counts the connections that the exports of one API process need on the primary, and as many on the replica. */
import { EXPORT_LANES_MAX } from "./lanes.ts";

/** Concurrent estimates and HEAD requests of exports. They take no stream slot, so they need connections of their own. */
export const EXPORT_COUNTS_MAX = 4;

export function countExportConnections(exportStreamsMax: number): number {
  return exportStreamsMax + EXPORT_COUNTS_MAX + EXPORT_LANES_MAX;
}
