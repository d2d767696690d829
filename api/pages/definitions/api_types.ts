/** JSON of the API, as pages of definitions read it. */

import type { Version } from "../../../sql/definitions/fields.ts";

/** GET …/versions. */
export interface VersionsJson {
  versions: readonly Version[];
  total: number;
  limit: number;
  offset: number;
}

/** GET …/executions. */
export interface ExecutionsJson {
  totalCount: number;
  recentCount: number;
  windowMinutes: number;
  byTime: readonly { time: string; count: number }[];
  bySource: readonly { source: string; count: number }[];
  byVersion: readonly { version: string; count: number }[];
}
