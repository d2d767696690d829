/** The routes of organizations. */
import { Elysia } from "elysia";
import type { Pool } from "../../../sql/connection/pool.ts";
import { orgAuditRoutes } from "./audit.ts";
import { ownOrgRoutes } from "./own_orgs.ts";
import { orgProfileRoutes } from "./profile.ts";
import { orgProjectRoutes } from "./projects.ts";
import { orgUpdateRoutes } from "./update.ts";
import { orgUsageRoutes } from "./usage.ts";

export function orgRoutes(deps: { sql: Pool }) {
  return new Elysia({ prefix: "/orgs" })
    .use(ownOrgRoutes(deps))
    .use(orgProjectRoutes(deps))
    .use(orgUsageRoutes(deps))
    .use(orgAuditRoutes(deps))
    .use(orgProfileRoutes(deps))
    .use(orgUpdateRoutes(deps));
}
