/** Whether the database lets a process do its work. */
import type { Registry } from "prom-client";
import { registerGauge, shareFor } from "../../shared/monitoring/measured_gauge.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import type { Pool } from "../connection/pool.ts";
import { maySeeSessions } from "../exports/harmless_sessions.ts";
import { readSchemaState } from "../schema_state.ts";
import { isTrackerReadable } from "../tracker/tracker_differences.ts";
import type { ArtifactProblem } from "./artifact_status.ts";

/** A database that takes longer counts as down. */
const CHECK_TIMEOUT_MS = 2_000;
/** How long the result of a check is reused: probes are not rate limited. */
const CHECK_FRESH_MS = 1_000;

export type DatabaseStatus =
  /**
   * `isBlind`: the database hides other sessions, so exports fail while other roles are connected. `hasTracker`: the tracker
   * tables or views are there and readable; without them, only exports fail.
   */
  | { isUsable: true; isBlind: boolean; hasTracker: boolean }
  | { isUsable: false; checks: Readonly<Record<string, "ok" | "down" | "pending">>; cause?: unknown };

/** Creates the check: the database responds and has every migration that this process knows. It never throws. */
export function createDatabaseCheck(
  sql: Pool,
  /** Of a process that reads tracker rows. */
  { trackerSchema = null }: { trackerSchema?: string | null } = {},
): () => Promise<DatabaseStatus> {
  // Migrations are never reverted, so they need no second check.
  let isCurrent = false;
  return shareFor(CHECK_FRESH_MS, async (): Promise<DatabaseStatus> => {
    try {
      const isBlind = !(await withTimeout(maySeeSessions(sql), CHECK_TIMEOUT_MS));
      isCurrent ||= (await withTimeout(readSchemaState(sql), CHECK_TIMEOUT_MS)).pending.length === 0;
      if (!isCurrent) return { isUsable: false, checks: { database: "ok", migrations: "pending" } };
      const hasTracker =
        trackerSchema === null ||
        (await withTimeout(isTrackerReadable(sql, trackerSchema), CHECK_TIMEOUT_MS));
      return { isUsable: true, isBlind, hasTracker };
    } catch (cause) {
      return { isUsable: false, checks: { database: "down" }, cause };
    }
  });
}

/** Creates the response to GET /health/ready of a process without an HTTP API. */
export function createReadyResponse(deps: {
  checkDatabase: () => Promise<DatabaseStatus>;
  /** Of a process that uses the artifact store. Does not affect readiness. */
  findArtifactProblem?: () => Promise<ArtifactProblem>;
  /** Aborted when the process shuts down. */
  shutdownSignal: AbortSignal;
}): () => Promise<Response> {
  const notReady = (checks: object): Response =>
    Response.json(
      {
        error: {
          code: "SERVICE_UNAVAILABLE",
          message: "This process is not ready. Retry in 5 s.",
          details: { checks },
        },
      },
      { status: 503, headers: { "Retry-After": "5" } },
    );
  return async () => {
    if (deps.shutdownSignal.aborted) return notReady({ process: "leaving" });
    const database = await deps.checkDatabase();
    if (!database.isUsable) return notReady(database.checks);
    return Response.json({
      data: {
        status: "ready",
        ...(database.hasTracker ? {} : { tracker: "missing" }),
        ...(await deps.findArtifactProblem?.()),
      },
    });
  };
}

/** Registers `database_up`, which is checked at each scrape. */
export function registerDatabaseUp(registry: Registry, check: () => Promise<DatabaseStatus>): void {
  registerGauge(registry, {
    name: "database_up",
    help: "1 while the database responds to this process, 0 while it does not",
    read: async () => {
      const status = await check();
      return Number(status.isUsable || status.checks["database"] === "ok");
    },
  });
}
