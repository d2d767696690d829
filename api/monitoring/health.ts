/** GET /health/live, GET /health/ready: probes for supervisors and load balancers. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import type { Replica } from "../../sql/connection/replica.ts";
import { type ArtifactStatus, createArtifactProblemCheck } from "../../sql/monitoring/artifact_status.ts";
import type { DatabaseStatus } from "../../sql/monitoring/readiness.ts";
import { access, notCounted } from "../http/access.ts";
import { failsWith } from "../openapi/types.ts";

export const OPERATIONS_TAG = "Operations";

const Live = t.Object(
  { data: t.Object({ status: t.Literal("live") }) },
  { description: "The process is running", examples: [{ data: { status: "live" } }] },
);
const Ready = t.Object(
  {
    data: t.Object({
      status: t.Literal("ready"),
      replica: t.Optional(
        t.Union([t.Literal("used"), t.Literal("left-alone")], {
          description:
            "Present if a replica is configured. `left-alone`: the replica is unreachable or behind and not read from.",
        }),
      ),
      watermark: t.Optional(
        t.Literal("blind", {
          description:
            "Present if the database hides other sessions from the service: exports return 503 while other roles are " +
            "connected, until an operator grants `pg_read_all_stats`",
        }),
      ),
      tracker: t.Optional(
        t.Literal("missing", {
          description:
            "Present if a tracker table or view in `TRACKER_SCHEMA` is missing or not readable: exports fail, everything " +
            "else works. `admin tracker check` says which.",
        }),
      ),
      artifacts: t.Optional(
        t.Union([t.Literal("owned-by-another"), t.Literal("unreachable")], {
          description:
            "Present if the artifact store has a problem. While another database owns it, organization exports are not " +
            "built until an operator runs `admin artifacts adopt`.",
        }),
      ),
    }),
  },
  {
    description: "The process can serve requests",
    examples: [{ data: { status: "ready", replica: "used" } }],
  },
);

export interface HealthDeps {
  checkDatabase: () => Promise<DatabaseStatus>;
  /** Does not affect readiness. */
  replica: Replica | null;
  /** Does not affect readiness: only new organization exports depend on it. */
  artifactStatus: () => Promise<ArtifactStatus>;
  /** Aborted when the process shuts down. */
  shutdownSignal: AbortSignal;
}

type Check = "ok" | "down" | "pending" | "leaving";

function notReady(checks: Readonly<Record<string, Check>>, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: "This process is not ready. Retry in 5 s.",
    details: { checks },
    headers: { "Retry-After": "5" },
    cause,
  });
}

/**
 * Creates the readiness check: the database responds and has every migration that this process knows. It returns problems
 * that do not prevent serving, or throws SERVICE_UNAVAILABLE.
 */
function createReadiness(deps: HealthDeps): () => Promise<typeof Ready.static.data> {
  const findArtifactProblem = createArtifactProblemCheck(deps.artifactStatus);
  return async () => {
    if (deps.shutdownSignal.aborted) throw notReady({ process: "leaving" });
    const database = await deps.checkDatabase();
    if (!database.isUsable) throw notReady(database.checks, database.cause);
    return {
      status: "ready",
      ...replicaStatus(deps),
      ...(database.isBlind ? { watermark: "blind" } : {}),
      ...(database.hasTracker ? {} : { tracker: "missing" }),
      ...(await findArtifactProblem()),
    };
  };
}

/** Returns both probes, which need no credential and are not rate limited. */
export function healthRoutes(deps: HealthDeps) {
  const checkReady = createReadiness(deps);
  return new Elysia({ prefix: "/health" })
    .use(access)
    .get("/live", () => ({ data: { status: "live" as const } }), {
      publicAccess: true,
      response: { 200: Live },
      detail: {
        tags: [OPERATIONS_TAG],
        operationId: "getLiveness",
        summary: "Liveness probe",
        description: "Checks only that the process answers. Supervisors restart a process that does not.",
        ...notCounted(),
      },
    })
    .get("/ready", async () => ({ data: await checkReady() }), {
      publicAccess: true,
      response: { 200: Ready },
      detail: {
        tags: [OPERATIONS_TAG],
        operationId: "getReadiness",
        summary: "Readiness probe",
        description:
          "Ready means that the database answers and has every migration, and that the process is not shutting down. " +
          "The database is checked at most once a second. If another database owns the artifact store, the response " +
          "says so with status 200, because only new organization exports are affected.",
        ...notCounted(),
        ...failsWith(["SERVICE_UNAVAILABLE", { checks: { database: "down" } }]),
      },
    });
}

function replicaStatus({ replica }: HealthDeps): { replica?: "used" | "left-alone" } {
  if (!replica) return {};
  return { replica: replica.isUsed() ? "used" : "left-alone" };
}
