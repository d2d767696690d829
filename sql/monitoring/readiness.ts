/** Checks whether a process can use its database. */
import type { Registry } from "prom-client";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { registerGauge, shareFor } from "../../shared/monitoring/measured_gauge.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import type { Pool } from "../connection/pool.ts";
import { maySeeSessions } from "../exports/harmless_sessions.ts";
import { readSchemaState } from "../schema_state.ts";
import { isTrackerReadable } from "../tracker/tracker_differences.ts";
import type { ArtifactProblem } from "./artifact_status.ts";

/** Timeout after which the database counts as down. */
const CHECK_TIMEOUT_MS = 2_000;
/** How long the result of a check is reused, because probes are not rate limited. */
const CHECK_FRESH_MS = 1_000;

interface UsableDatabase {
  isUsable: true;
  /** Whether the database hides other sessions. If so, exports fail while other roles that may write are connected. */
  isBlind: boolean;
  /** Whether the tracker tables or views exist and are readable. Without them, only exports fail. */
  hasTracker: boolean;
}

type Check = "ok" | "down" | "pending" | "leaving";
type Checks = Readonly<Record<string, Check>>;

export type DatabaseStatus = UsableDatabase | { isUsable: false; checks: Checks; cause?: unknown };

/**
 * Registers `database_up`, which is measured at each scrape. Returns a function that checks whether the database responds and has
 * every migration that this process knows. The function never throws.
 */
export function watchDatabase(
  sql: Pool,
  /** Set `trackerSchema` for a process that reads tracker rows. */
  { registry, trackerSchema = null }: { registry: Registry; trackerSchema?: string | null },
): () => Promise<DatabaseStatus> {
  // Migrations are never reverted, so one successful check is enough.
  let isCurrent = false;
  const check = shareFor(CHECK_FRESH_MS, async (): Promise<DatabaseStatus> => {
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
  registerGauge(registry, {
    name: "database_up",
    help: "1 while the database responds to this process, 0 while it does not",
    read: async () => {
      const status = await check();
      return Number(status.isUsable || status.checks["database"] === "ok");
    },
  });
  return check;
}

interface ReadyDeps {
  checkDatabase: () => Promise<DatabaseStatus>;
  /** Set in processes that use the artifact store. Does not affect readiness. */
  findArtifactProblem?: () => Promise<ArtifactProblem>;
  /** Aborted when the process shuts down. */
  shutdownSignal: AbortSignal;
}

/**
 * Returns the body of GET /health/ready, and the status of the database. Throws SERVICE_UNAVAILABLE while the process is not
 * ready.
 */
export async function requireReady({ checkDatabase, findArtifactProblem, shutdownSignal }: ReadyDeps) {
  if (shutdownSignal.aborted) throw notReady({ process: "leaving" });
  const database = await checkDatabase();
  if (!database.isUsable) throw notReady(database.checks, database.cause);
  const ready = {
    status: "ready" as const,
    ...(database.hasTracker ? {} : { tracker: "missing" as const }),
    ...(await findArtifactProblem?.()),
  };
  return { ready, database };
}

/** Responds to GET /health/ready in a process without an HTTP API. */
export async function respondReady(deps: ReadyDeps): Promise<Response> {
  const { ready } = await requireReady(deps);
  return Response.json({ data: ready });
}

function notReady(checks: Checks, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: TEXTS.SERVICE_UNAVAILABLE.health,
    details: { checks },
    cause,
  });
}
