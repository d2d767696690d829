/** The routes of organizations. */
import { Elysia } from "elysia";
import type { Pool } from "../../sql/connection/pool.ts";
import { orgAuditRoutes } from "./org_audit.ts";
import { orgProfileRoutes } from "./org_profile.ts";
import { orgProjectRoutes } from "./org_projects.ts";
import { orgUpdateRoutes } from "./org_update.ts";
import { orgUsageRoutes } from "./org_usage.ts";
import { ownOrgRoutes } from "./own_orgs.ts";

export function orgRoutes(deps: { sql: Pool }) {
  return new Elysia({ prefix: "/orgs" })
    .use(ownOrgRoutes(deps))
    .use(orgProjectRoutes(deps))
    .use(orgUsageRoutes(deps))
    .use(orgAuditRoutes(deps))
    .use(orgProfileRoutes(deps))
    .use(orgUpdateRoutes(deps));
}
