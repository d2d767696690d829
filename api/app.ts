/** Builds the app from its dependencies; main.ts listens, tests call `handle`. */
import { type AnyElysia, Elysia } from "elysia";
import { openArtifactStore } from "../shared/artifacts/open.ts";
import { registerDirectoryMetrics } from "../shared/monitoring/directory_metrics.ts";
import type { Config } from "../shared/process/config.ts";
import type { Log } from "../shared/process/log.ts";
import type { Tracing } from "../shared/tracing/tracing.ts";
import type { Nodes } from "../sql/connection/nodes.ts";
import type { Pool } from "../sql/connection/pool.ts";
import type { Replica } from "../sql/connection/replica.ts";
import { createArtifactStatus, registerArtifactMetrics } from "../sql/monitoring/artifact_status.ts";
import { registerPoolMetrics, registerServerConnections } from "../sql/monitoring/pool_metrics.ts";
import { createDatabaseCheck, type DatabaseStatus, registerDatabaseUp } from "../sql/monitoring/readiness.ts";
import type { Boss } from "../sql/queue.ts";
import { authRoutes } from "./accounts/auth_routes.ts";
import { orgRoutes } from "./accounts/org_routes.ts";
import { ownProfileRoutes } from "./accounts/own_profile.ts";
import { userRoutes } from "./accounts/users.ts";
import { definitionRoutes } from "./definitions/routes.ts";
import { languageSchemaRoutes } from "./definitions/schemas/language_schemas.ts";
import { languageRoutes } from "./definitions/schemas/languages.ts";
import type { Documents } from "./documents/documents.ts";
import { eventRoutes } from "./events/events.ts";
import { exportRoutes } from "./exports/routes.ts";
import { createAuditDenial } from "./http/audit_denial.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import type { CredentialCache } from "./http/credential_cache.ts";
import { respondError } from "./http/error_handler.ts";
import { createRespondOnce } from "./http/idempotency.ts";
import { requestContext } from "./http/request_context.ts";
import { createAdmission } from "./http/request_limits.ts";
import { createFinishRequest } from "./http/request_log.ts";
import { createIsOwnPage } from "./http/request_origin.ts";
import { createHandle, type Handle } from "./http/request_pipeline.ts";
import { createClaimResponse } from "./http/response/budget.ts";
import { createEncodeResponse } from "./http/response/encoder.ts";
import { createSecurityHeaders } from "./http/response/security_headers.ts";
import type { StreamRules } from "./http/response/stream_cutoff.ts";
import { buildRouteTable, type RegisteredRoute } from "./http/route_table.ts";
import { sessionCookieName } from "./http/session_cookie.ts";
import type { CatalogCache } from "./models/catalog_cache.ts";
import { modelRoutes } from "./models/routes.ts";
import { healthRoutes } from "./monitoring/health.ts";
import { type Metrics, metricsRoutes } from "./monitoring/metrics.ts";
import { registerReplicaMetrics } from "./monitoring/replica_metrics.ts";
import { docsRoutes } from "./openapi/docs.ts";
import { publishingRoutes } from "./pages/definitions/edit/publishing_routes.ts";
import { definitionPageRoutes } from "./pages/definitions/routes.ts";
import { toErrorPage } from "./pages/error_page.ts";
import { exportPageRoutes } from "./pages/exports/routes.ts";
import { homeRoutes } from "./pages/home/routes.ts";
import { modelPageRoutes } from "./pages/models/routes.ts";
import { organizationRoutes } from "./pages/organizations/routes.ts";
import { createPages } from "./pages/page.ts";
import { dashboardRoutes, iconRoutes } from "./pages/routes.ts";
import { securityTxtRoutes } from "./pages/security_txt.ts";
import { settingsRoutes } from "./pages/settings/routes.ts";
import { signInRoutes } from "./pages/sign_in/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

export interface AppDeps {
  config: Config;
  /** For requests; exports have connections of their own. */
  sql: Pool;
  /** For exports: as many connections as `countExportConnections()` says. */
  exportSql: Pool;
  /** Where exports and the catalog are read while the replica is current; null without a replica. */
  replica: Replica | null;
  /** Where exports are read if the tracker tables are distributed. */
  nodes: Nodes;
  /** Where background jobs are queued. */
  boss: Boss;
  /** Where the texts of definitions are read. */
  documents: Documents;
  /** The model catalog. */
  catalog: CatalogCache;
  /** Who is calling. */
  callers: CredentialCache;
  log: Log;
  metrics: Metrics;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** Aborted when the process is about to stop. */
  shutdownSignal: AbortSignal;
  /** Milliseconds since the epoch, for the rate limits; the clock when left out. */
  now?: () => number;
  /** Overrides STREAM_RULES, for tests. */
  streamRules?: Partial<StreamRules>;
}

export interface App {
  /** The whole service as a function: what a socket gets and a test calls. Never throws. */
  handle: Handle;
  /** Every route, for the tests that look at all of them. */
  routes: readonly RegisteredRoute[];
}

/** What is served under /api/v1: the visible list. */
function apiRoutes(deps: AppDeps) {
  return new Elysia({ prefix: "/api/v1" })
    .use(authRoutes(deps))
    .use(exportRoutes(deps))
    .use(definitionRoutes(deps))
    .use(languageRoutes(deps))
    .use(eventRoutes(deps))
    .use(modelRoutes(deps))
    .use(orgRoutes(deps))
    .use(webhookRoutes(deps))
    .use(ownProfileRoutes(deps))
    .use(userRoutes(deps));
}

function registerServiceMetrics(deps: AppDeps, checkDatabase: () => Promise<DatabaseStatus>): void {
  const { config, sql, exportSql, replica, log } = deps;
  const { registry } = deps.metrics;
  if (replica) registerReplicaMetrics(registry, { replica, log });
  registerPoolMetrics(registry, { requests: sql, exports: exportSql });
  registerServerConnections(registry, { sql, log });
  registerDatabaseUp(registry, checkDatabase);
  registerDirectoryMetrics(registry, { artifactUrl: config.artifactUrl, log });
}

function serviceRoutes(deps: AppDeps) {
  const artifactStatus = createArtifactStatus({ ...deps, store: openArtifactStore(deps.config) });
  registerArtifactMetrics(deps.metrics.registry, artifactStatus);
  const checkDatabase = createDatabaseCheck(deps.sql, deps.config);
  registerServiceMetrics(deps, checkDatabase);
  const described = new Elysia()
    .use(apiRoutes(deps))
    .use(healthRoutes({ ...deps, artifactStatus, checkDatabase }))
    .use(deps.config.metricsPort === null ? metricsRoutes(deps) : new Elysia())
    .use(languageSchemaRoutes(deps))
    .use(securityTxtRoutes(deps));
  return new Elysia()
    .use(described)
    .use(docsRoutes(described, { sessionCookie: sessionCookieName(deps.config) }))
    .use(pageRoutes(deps));
}

/** Pages for people. Each folder of `pages/` adds a line. */
function pageRoutes(deps: AppDeps) {
  const pages = createPages(deps.config);
  return new Elysia()
    .use(iconRoutes())
    .use(dashboardRoutes())
    .use(exportPageRoutes(pages))
    .use(homeRoutes(pages))
    .use(definitionPageRoutes(pages, deps))
    .use(modelPageRoutes(pages))
    .use(publishingRoutes(pages))
    .use(settingsRoutes(pages))
    .use(organizationRoutes(pages))
    .use(signInRoutes(pages));
}

/**
 * Builds the app. It holds no connection and no timer of its own: it is gone when it is let go. `routes` are the
 * service's own unless a test brings others.
 */
export function buildApp(deps: AppDeps, routes: AnyElysia = serviceRoutes(deps)): App {
  const { config, log, metrics, shutdownSignal, now = Date.now } = deps;
  // systemRouter: with Bun's own router, requests over a socket match otherwise than in `handle`.
  // standardHostname: without, a short host name such as `http://db/` makes every path unknown.
  const elysia = new Elysia({ systemRouter: false, handler: { standardHostname: false }, normalize: false })
    // Before the routes: hooks concern only what is registered after them.
    .onError({ as: "global" }, ({ error, request }) => respondError(requestContext(request), error))
    // serve_route.ts reads and checks bodies.
    .onParse({ as: "global" }, ({ request }) => requestContext(request).body)
    .use(routes);
  const registered: readonly RegisteredRoute[] = elysia.routes;
  const handle = createHandle({
    ...createAdmission({ config, now, metrics, authenticate: createAuthenticate(deps) }),
    addSecurityHeaders: createSecurityHeaders(config),
    isOwnPage: createIsOwnPage(config.publicUrl),
    routeTable: buildRouteTable(registered),
    dispatch: async (request) => elysia.handle(request),
    encodeResponse: createEncodeResponse(),
    claimResponse: createClaimResponse(metrics),
    auditDenial: createAuditDenial({ ...deps, now }),
    respondOnce: createRespondOnce({ ...deps, onError: respondError }),
    toErrorPage,
    finishRequest: createFinishRequest({ config: deps.config, log, metrics }),
    tracing: deps.tracing,
    shutdownSignal,
  });
  return { handle, routes: registered };
}
