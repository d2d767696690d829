/** Limits the rows of streamed files. Files of export jobs have no limit. */
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { ExportSource } from "../../sql/exports/open_source.ts";

/** Endpoint for exports that exceed the limit. */
export const ASYNC_ENDPOINT = "/api/v1/export/jobs";

export interface CountedFile {
  kind: "dataset" | "bundle";
  /** Counts the rows, up to `limit`. */
  count(tx: Sql, limit: number): Promise<number>;
}

export function rowLimit(config: Config, kind: CountedFile["kind"]): number {
  return kind === "bundle" ? config.exportBundleMaxRows : config.exportSyncMaxRows;
}

/** Counts the rows of a file and stops shortly after the limit. Throws EXPORT_TOO_LARGE above the limit. */
export async function countWithinLimit(
  config: Config,
  { snapshot, requireAccessStill }: Pick<ExportSource, "snapshot"> & { requireAccessStill(): Promise<void> },
  { kind, count }: CountedFile,
): Promise<number> {
  const limit = rowLimit(config, kind);
  const rows = await snapshot.run((tx) => count(tx, limit + 1));
  // Checks access before the limit, because the error of the limit reveals the number of rows.
  await requireAccessStill();
  if (rows <= limit) return rows;
  const details = { rows, limit, asyncEndpoint: ASYNC_ENDPOINT };
  throw new ApiError("EXPORT_TOO_LARGE", { details });
}
