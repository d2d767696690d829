/** The cutoff of an export: where `as_of` and `since` are settled, and what holds it back is reported. */
import type { Registry } from "prom-client";
import { RETRY_AFTER } from "../../shared/error_rows.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Node } from "../../sql/connection/nodes.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import {
  measureWatermarkHold,
  NO_SESSION,
  settleWatermark,
  type WatermarkBlocker,
  type WatermarkResult,
} from "../../sql/exports/settle_watermark.ts";
import { isChangeLogKept } from "../../sql/exports/tracker_changes.ts";
import { OWN_TRACKER_SCHEMA } from "../../sql/tracker/tracker_tables.ts";
import { invalidInput } from "../http/validation_problems.ts";

/** An older watermark is logged: a transaction was probably left open. */
const NOTEWORTHY_LAG_MS = 5000;

interface CutoffDeps {
  config: Pick<Config, "exportIgnoreApplications" | "trackerSchema">;
  sql: Pool;
  log: Log;
}

export interface CutoffOptions {
  /** Null for the newest settled watermark. */
  asOf: string | null;
  /** Start of an increment; null for a full export. */
  since: string | null;
  signal?: AbortSignal;
  nodes?: readonly Node[];
}

/**
 * Settles `asOf`, or chooses the newest settled watermark if it is null. Throws VALIDATION_ERROR if `asOf` is in the
 * future or an increment from `since` cannot be exact, SERVICE_UNAVAILABLE if it does not settle. Call it outside a
 * transaction.
 */
export async function settleCutoff(
  deps: CutoffDeps,
  { asOf: wanted, since, ...options }: CutoffOptions,
): Promise<string> {
  const asOf = await requireWatermark(deps, wanted, options);
  if (since !== null) await requireSince(deps, { since, asOf });
  return asOf;
}

async function requireWatermark(
  deps: CutoffDeps,
  asOf: string | null,
  { signal, nodes = [] }: Pick<CutoffOptions, "signal" | "nodes">,
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
  const { hidden, open } = TEXTS.SERVICE_UNAVAILABLE.cutoff;
  throw new ApiError("SERVICE_UNAVAILABLE", {
    message: isBlind(result.blockers) ? hidden : open,
    retryAfter: RETRY_AFTER.build,
  });
}

/**
 * Returns true if the database hides sessions, so that waiting does not help. Prepared transactions have no session.
 */
function isBlind(blockers: readonly WatermarkBlocker[]): boolean {
  return blockers.some(({ pid, transactionStart }) => pid !== NO_SESSION && transactionStart === null);
}

/** Logs the sessions that hold back the watermark (docs/watermark.md). */
function report(deps: CutoffDeps, result: WatermarkResult, isChosen: boolean): void {
  // By the database's clock alone: the difference to this machine's would look like a lag.
  const lagMs = result.ok && isChosen ? Date.parse(result.observedAt) - Date.parse(result.asOf) : 0;
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

/**
 * Throws VALIDATION_ERROR if an increment from `since` to `asOf` cannot be exact, so that the caller has to take a full
 * export: with `details.reason: "since_too_old"`, or without if changes are not logged at all.
 */
async function requireSince(
  { sql, config }: CutoffDeps,
  { since, asOf }: { since: string; asOf: string },
): Promise<void> {
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) {
    const message = "is not available: this service does not log changes of its tracker. Take a full export";
    throw invalidInput([{ path: "since", message }]);
  }
  if (since > asOf) throw sinceError(`must not be later than the cutoff, ${asOf}`);
  if (!(await isChangeLogKept(sql, since))) {
    throw sinceError(
      "must be within the last 90 days, because older changes are deleted. Take a full export",
    );
  }
}

function sinceError(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", {
    message: TEXTS.VALIDATION_ERROR.problem({ path: "since", message }),
    details: { reason: "since_too_old", errors: [{ path: "since", message }] },
  });
}

/** Registers the gauge of how far open transactions hold back the cutoff, measured at each scrape (docs/watermark.md). */
export function registerWatermarkMetrics(
  registry: Registry,
  deps: { sql: Sql; log: Log; config: CutoffDeps["config"] },
): void {
  registerMeasuredGauges(
    { registry, log: deps.log },
    [
      {
        name: "export_watermark_held_back_seconds",
        help:
          "Age of the oldest open transaction that holds back the cutoff of exports; 0 if there is none, " +
          "NaN while the database hides sessions",
      },
    ],
    async () => {
      const seconds = await measureWatermarkHold(deps.sql, {
        ignoredApplications: deps.config.exportIgnoreApplications,
        trackerSchema: deps.config.trackerSchema,
      });
      return [[{ labels: {}, value: seconds ?? Number.NaN }]];
    },
  );
}
