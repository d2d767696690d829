/** Selects the rows of an export. */
import type { VisibilityFlag } from "./datasets.ts";

/** Which hidden rows an export includes (docs/contract.md, Exports). */
export interface ExportVisibility {
  includeDeleted: boolean;
  includeArchived: boolean;
  includeSuperseded: boolean;
  includeResolved: boolean;
}

export interface ExportSelection {
  /** Where the tracker tables, or views, are. */
  trackerSchema: string;
  /** The shards that hold the project, by table, where the tables are distributed and a node is read. */
  shards?: Readonly<Record<string, string>> | null;
  projectId: string;
  /** The settled watermark; later rows are excluded. */
  asOf: string;
  visibility: ExportVisibility;
  /** Values by filter name; a row has to match one of the values of every filter that is given. */
  filters: Readonly<Record<string, readonly string[]>>;
  /** Only rows that changed after it, docs/increments.md; all rows if it is null or missing. */
  since?: string | null;
  /** Only rows of a part of time, by the dataset's time column: from, inclusive, and to, exclusive. */
  createdFrom?: string | null;
  createdTo?: string | null;
}

/** What a flag that is left out stands for. */
export const FLAG_DEFAULTS: Readonly<Record<VisibilityFlag, boolean>> = {
  include_deleted: false,
  include_archived: false,
  include_superseded: false,
  include_resolved: true,
};

/** The visibility that a request's flags ask for. */
export function toVisibility(options: Readonly<Partial<Record<VisibilityFlag, boolean>>>): ExportVisibility {
  const flags = { ...FLAG_DEFAULTS, ...options };
  return {
    includeDeleted: flags.include_deleted,
    includeArchived: flags.include_archived,
    includeSuperseded: flags.include_superseded,
    includeResolved: flags.include_resolved,
  };
}

/** The filters a bundle has: none. */
export const NO_FILTERS: ExportSelection["filters"] = {};
