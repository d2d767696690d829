/** PATCH /orgs/{slug}: updates the public profile of an organization, for its owners and admins. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole, isPersonalCredential } from "../../../shared/policy.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { findOrgProfile } from "../../../sql/accounts/organization_definitions.ts";
import { updateOrg } from "../../../sql/accounts/orgs.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { rejectQuery } from "../../http/query.ts";
import { requestContext } from "../../http/request_context.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { failsWith } from "../../openapi/types.ts";
import {
  AboutField,
  aboutProblem,
  checkProfileUpdate,
  NameField,
  nameProblem,
  WebsiteField,
  websiteProblem,
} from "../profile_fields.ts";
import { OrgProfile } from "./profile.ts";
import { requireOwnOrg } from "./require_own_org.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

const OrgUpdate = t.Object(
  {
    name: t.Optional(NameField),
    description: t.Optional(AboutField),
    websiteUrl: t.Optional(WebsiteField),
  },
  {
    title: "OrganizationUpdate",
    additionalProperties: false,
    examples: [
      { name: "Demo", description: "Shows what the service does", websiteUrl: "https://demo.example" },
    ],
  },
);

const RULES = { name: nameProblem, description: aboutProblem, websiteUrl: websiteProblem };

interface Update {
  org: { id: string; slug: string };
  actor: AuditActor;
  changes: typeof OrgUpdate.static;
}

async function applyUpdate(sql: Pool, { org, actor, changes }: Update): Promise<void> {
  const changed = Object.keys(changes);
  if (changed.length === 0) return;
  await sql.begin(async (tx) => {
    await updateOrg(tx, org.slug, changes);
    await insertAuditEntry(tx, {
      ...actor,
      action: "org.update",
      subjectType: "organization",
      subjectId: org.id,
      orgId: org.id,
      details: { changed: changed.join(", ") },
    });
  });
}

export function orgUpdateRoutes({ sql }: { sql: Pool }) {
  return new Elysia().use(access).patch(
    "/:slug",
    async ({ caller, request, params, body }) => {
      const org = await requireOwnOrg(sql, { caller, slug: params.slug });
      // A denied update is an entry in the organization's audit log.
      requestContext(request).orgId = org.id;
      requireAllowed(hasOrgRole(org.role, "admin"));
      requireAllowed(isPersonalCredential(caller.credential));
      rejectQuery(request);
      checkProfileUpdate(body, RULES);
      await applyUpdate(sql, { org, actor: auditActor(request, caller), changes: body });
      const profile = await findOrgProfile(sql, org.slug);
      if (!profile) throw new ApiError("ORG_NOT_FOUND");
      return { data: profile };
    },
    {
      access: "caller",
      params: OrgParams,
      body: OrgUpdate,
      response: { 200: OrgProfile },
      detail: {
        tags: [ORGS_TAG],
        operationId: "updateOrganization",
        summary: "Update an organization's public profile",
        description: "For owners and admins. Omitted fields stay unchanged. The slug cannot be changed.",
        ...failsWith(
          "VALIDATION_ERROR",
          "ORG_ACCESS_DENIED",
          "INSUFFICIENT_ORG_ROLE",
          "KEY_KIND_FORBIDDEN",
          "ORG_NOT_FOUND",
        ),
      },
    },
  );
}
