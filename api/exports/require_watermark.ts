/** Settles the watermark of an export, or throws; reports the sessions that hold it back. */
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Node } from "../../sql/connection/nodes.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import {
  NO_SESSION,
  settleWatermark,
  type WatermarkBlocker,
  type WatermarkResult,
} from "../../sql/exports/settled_watermark.ts";
import { invalidInput } from "../http/validation_problems.ts";

const RETRY_WATERMARK_SECONDS = 10;
/** An older watermark is logged: a transaction was probably left open. */
const NOTEWORTHY_LAG_MS = 5000;

export interface WatermarkDeps {
  config: Pick<Config, "exportIgnoreApplications" | "trackerSchema">;
  sql: Pool;
  log: Log;
}

/**
 * Settles `asOf`, or chooses the newest settled watermark if it is null. Throws VALIDATION_ERROR if `asOf` is in the
 * future, SERVICE_UNAVAILABLE if it does not settle. Call it outside a transaction.
 */
export async function requireWatermark(
  deps: WatermarkDeps,
  asOf: string | null,
  { signal, nodes = [] }: { signal?: AbortSignal; nodes?: readonly Node[] } = {},
): Promise<string> {
  const result = await settleWatermark(deps.sql, {
    ignoredApplications: deps.config.exportIgnoreApplications,
    trackerSchema: deps.config.trackerSchema,
    nodes,
    ...(asOf === null ? {} : { asOf }),
    ...(signal ? { signal } : {}),
  });
  report(deps, result, asOf === null);
  if (result.ok) return result.asOf;
  if (result.reason === "future") {
    throw invalidInput([{ path: "as_of", message: "must not be in the future" }]);
  }
  const reason = isBlind(result.blockers)
    ? "the database hides other sessions from the service. Its log has the grant that is missing"
    : "an open transaction may still add rows to it. Retry later, or choose an earlier as_of";
  throw new ApiError("SERVICE_UNAVAILABLE", {
    message: `Cannot settle the cutoff of the export: ${reason}`,
    headers: { "Retry-After": String(RETRY_WATERMARK_SECONDS) },
  });
}

/**
 * Returns true if the database hides sessions, so that waiting does not help. Prepared transactions have no session.
 */
function isBlind(blockers: readonly WatermarkBlocker[]): boolean {
  return blockers.some(({ pid, transactionStart }) => pid !== NO_SESSION && transactionStart === null);
}

/** Logs the sessions that hold back the watermark (docs/watermark.md). */
function report(deps: WatermarkDeps, result: WatermarkResult, isChosen: boolean): void {
  const lagMs = result.ok && isChosen ? Math.max(0, Date.now() - Date.parse(result.asOf)) : 0;
  const isUnsettled = !result.ok && result.reason === "unsettled";
  if (!isUnsettled && lagMs < NOTEWORTHY_LAG_MS) return;
  const { blockers } = result;
  const fields = { event: "export.watermark_held_back", lagMs, blockers };
  if (isBlind(blockers)) {
    const hint = "grant pg_read_all_stats to the database role of the service";
    deps.log.warn({ ...fields, hint }, "sessions that the database hides hold back the cutoff of exports");
  } else {
    deps.log.warn(fields, "open transactions hold back the cutoff of exports");
  }
}
