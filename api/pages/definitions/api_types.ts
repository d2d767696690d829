/** JSON of the API, as pages of definitions read it. */

import type { FieldValues } from "../../../sql/definitions/field_type.ts";
import type { SUMMARY_FIELDS, Version } from "../../../sql/definitions/fields.ts";

/** A definition of a list. */
export type SummaryJson = FieldValues<typeof SUMMARY_FIELDS>;

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
