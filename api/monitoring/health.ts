/** GET /health/live, GET /health/ready: probes for supervisors and load balancers. */
import { type Static, Type } from "@sinclair/typebox";
import { data, oneOf } from "../../shared/schemas.ts";
import { requireReady } from "../../sql/monitoring/readiness.ts";
import { operation, reply } from "../http/operation.ts";

/** The query is not checked, because a load balancer may add one to a probe. */
const BASE = {
  method: "GET",
  access: "public",
  tag: "Operations",
  unlimited: true,
  uncheckedQuery: {},
} as const;

const Live = data({ status: Type.Literal("live") }, "The process is running");
const Ready = data(
  {
    status: Type.Literal("ready"),
    replica: Type.Optional(
      oneOf(["used", "left-alone"], {
        description:
          "Present if a replica is configured. `left-alone`: the replica is unreachable or behind and not read from.",
        examples: ["used"],
      }),
    ),
    watermark: Type.Optional(
      Type.Literal("blind", {
        description:
          "Present if the database hides other sessions from the service: exports return 503 while other roles are " +
          "connected, until an operator grants `pg_read_all_stats`",
      }),
    ),
    tracker: Type.Optional(
      Type.Literal("missing", {
        description:
          "Present if a tracker table or view in `TRACKER_SCHEMA` is missing or not readable: exports fail, everything " +
          "else works. `admin tracker check` says which.",
      }),
    ),
    artifacts: Type.Optional(
      oneOf(["owned-by-another", "unreachable"], {
        description:
          "Present if the artifact store has a problem. While another database owns it, organization exports are not " +
          "built until an operator runs `admin artifacts adopt`.",
      }),
    ),
  },
  "The process can serve requests",
);

export const getLiveness = operation(
  {
    ...BASE,
    id: "getLiveness",
    path: "/health/live",
    summary: "Liveness probe",
    description: "Checks only that the process answers. Supervisors restart a process that does not.",
    response: { 200: Live },
  },
  async () => reply(200, { data: { status: "live" } }),
);

export const getReadiness = operation(
  {
    ...BASE,
    id: "getReadiness",
    path: "/health/ready",
    summary: "Readiness probe",
    description:
      "Ready means that the database answers and has every migration, and that the process is not shutting down. " +
      "The database is checked at most once a second. If another database owns the artifact store, the response " +
      "says so with status 200, because only new organization exports are affected.",
    response: { 200: Ready },
    fails: [["SERVICE_UNAVAILABLE", { checks: { database: "down" } }]],
  },
  async (_, deps) => {
    const { ready, database } = await requireReady(deps);
    const { replica } = deps;
    const found: Static<typeof Ready>["data"] = {
      ...ready,
      ...(replica ? { replica: replica.isUsed() ? "used" : "left-alone" } : {}),
      ...(database.isBlind ? { watermark: "blind" } : {}),
    };
    return reply(200, { data: found });
  },
);
