/** Builds the app from its dependencies. main.ts serves it on a socket, and tests call `handle`. */
import { listOrgSlugs } from "../sql/accounts/orgs.ts";
import { watchArtifactStore } from "../sql/monitoring/artifact_status.ts";
import { watchDatabase } from "../sql/monitoring/readiness.ts";
import { createSignInResources } from "./accounts/sign_in/sign_in_resources.ts";
import type { Deps } from "./deps.ts";
import { createExportResources } from "./exports/export_resources.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import type { AnyOperation, OperationDeps } from "./http/operation.ts";
import { createAuditDenial } from "./http/pipeline/audit_denial.ts";
import { createClaimRequestBody } from "./http/pipeline/body_memory.ts";
import { createRespondOnce } from "./http/pipeline/idempotency.ts";
import { toOperationRoute } from "./http/pipeline/operation_route.ts";
import { createRateLimits } from "./http/pipeline/rate_limits.ts";
import { createRequestPipeline, createRouter, type Handle } from "./http/pipeline/request_pipeline.ts";
import type { Route } from "./http/route.ts";
import { sessionCookieName } from "./http/session_cookie.ts";
import { registerServiceMetrics } from "./monitoring/service_metrics.ts";
import { createSwaggerOperations } from "./openapi/swagger_ui.ts";
import { listServiceOperations } from "./operations.ts";
import { PUBLISHING_PAGES } from "./pages/definitions/edit/publishing_routes.ts";
import { DEFINITION_PAGES } from "./pages/definitions/routes.ts";
import { isForPeople, toErrorPage } from "./pages/error_page.ts";
import { EXPORT_PAGES } from "./pages/exports/routes.ts";
import { HOME_PAGES } from "./pages/home.ts";
import { MODEL_PAGES } from "./pages/models/routes.ts";
import { ORGANIZATION_PAGES } from "./pages/organizations/routes.ts";
import { type PageDeps, type PageRoute, toPageRoutes } from "./pages/page.ts";
import { createAssetOperations } from "./pages/routes.ts";
import { SETTINGS_PAGES } from "./pages/settings/routes.ts";
import { SIGN_IN_PAGES } from "./pages/sign_in/routes.ts";
import { createTurns, createWriteInTurn } from "./turns.ts";

export interface App {
  /** Responds to every request, over a socket or from a test. Never throws. */
  handle: Handle;
  /** All routes, for tests that check every route. */
  routes: readonly Route[];
}

/** Routes that a test serves instead of the service's routes. */
export type OwnRoutes = readonly (AnyOperation | PageRoute)[];

/** All pages. Each folder of `pages/` adds one list. */
const PAGES: readonly PageRoute[] = [
  ...EXPORT_PAGES,
  ...HOME_PAGES,
  ...DEFINITION_PAGES,
  ...MODEL_PAGES,
  ...PUBLISHING_PAGES,
  ...SETTINGS_PAGES,
  ...ORGANIZATION_PAGES,
  ...SIGN_IN_PAGES,
];

/** Returns all operations and pages of the service. */
function listRoutes(deps: Deps): OwnRoutes {
  const described = listServiceOperations(deps);
  const sessionCookie = sessionCookieName(deps.config);
  const docs = createSwaggerOperations(described, { ...deps.config, sessionCookie });
  return [...described, ...docs, ...createAssetOperations(), ...PAGES];
}

function isPage(entry: AnyOperation | PageRoute): entry is PageRoute {
  return Array.isArray(entry);
}

/** Builds the app. It owns no connections or timers, so it needs no cleanup. Tests can pass their own routes. */
export function buildApp(options: Deps, ownRoutes: OwnRoutes | null = null): App {
  const exports = createExportResources(options);
  const { registry } = options.metrics;
  const turns = createTurns(options.config);
  const deps: OperationDeps = {
    ...options,
    exports,
    signIn: createSignInResources(options),
    turns,
    writeInTurn: createWriteInTurn(options.sql, turns.writes),
    writeAccountInTurn: createWriteInTurn(options.sql, turns.accounts),
    checkDatabase: watchDatabase(options.sql, { ...options.config, registry }),
    findArtifactProblem: watchArtifactStore({ ...options, store: exports.store, registry }),
  };
  if (!ownRoutes) registerServiceMetrics(deps);
  const { config, metrics, now = Date.now } = deps;
  const pageDeps: PageDeps = { ...deps, listOrgSlugs: (ids) => listOrgSlugs(deps.sql, ids) };
  const routes = (ownRoutes ?? listRoutes(deps)).flatMap((entry) =>
    isPage(entry) ? toPageRoutes(entry, pageDeps) : toOperationRoute(entry, deps),
  );
  const auditDenial = createAuditDenial({ ...deps, now });
  const dispatch = createRouter(
    {
      ...createRateLimits({ config, now, metrics, authenticate: createAuthenticate(deps) }),
      config,
      respondOnce: createRespondOnce(deps),
      claimRequestBody: createClaimRequestBody(metrics),
      tracing: deps.tracing,
      auditDenial,
      isForPeople,
    },
    routes,
  );
  const handle = createRequestPipeline({ ...deps, dispatch, auditDenial, toErrorPage, now });
  return { handle, routes };
}
