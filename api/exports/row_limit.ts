/** How many rows a file may have that is downloaded while it is made. Files of jobs have no limit. */
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { ExportSource } from "../../sql/exports/open_source.ts";

/** The endpoint for exports that are too large here. */
export const ASYNC_ENDPOINT = "/api/v1/export/jobs";

export interface CountedFile {
  kind: "dataset" | "bundle";
  /** Counts the rows, but no further than `limit`. */
  count(tx: Sql, limit: number): Promise<number>;
}

export function rowLimit(config: Config, kind: CountedFile["kind"]): number {
  return kind === "bundle" ? config.exportBundleMaxRows : config.exportSyncMaxRows;
}

/** Counts the rows of a file, but not much further than its limit. Throws EXPORT_TOO_LARGE beyond it. */
export async function countWithinLimit(
  config: Config,
  { snapshot, requireAccessStill }: Pick<ExportSource, "snapshot"> & { requireAccessStill(): Promise<void> },
  { kind, count }: CountedFile,
): Promise<number> {
  const limit = rowLimit(config, kind);
  const rows = await snapshot.run((tx) => count(tx, limit + 1));
  // Before the limit is checked, because its error also reveals the number.
  await requireAccessStill();
  if (rows <= limit) return rows;
  const details = { rows, limit, asyncEndpoint: ASYNC_ENDPOINT };
  throw new ApiError("EXPORT_TOO_LARGE", { details });
}
