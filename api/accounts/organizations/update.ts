/** PATCH /orgs/{slug}: updates an organization's public profile, and whether its members need a second factor. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole, isPersonalCredential, isSession } from "../../../shared/policy.ts";
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { findOrgProfile } from "../../../sql/accounts/organization_definitions.ts";
import { updateOrg } from "../../../sql/accounts/orgs.ts";
import { existsSecondFactor } from "../../../sql/accounts/second_factors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import type { Caller } from "../../http/caller.ts";
import { operation, reply } from "../../http/operation.ts";
import { requestContext } from "../../http/request_context.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { noFactor } from "../factors/factor_schemas.ts";
import { requireRecentFactor } from "../factors/require_proof.ts";
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
import { requireActorRole, requireOwnOrg } from "./require_own_org.ts";
import { ORG_FAILURES, ORGS_TAG, OrgParams } from "./schemas.ts";

const OrgUpdate = Type.Object(
  {
    name: Type.Optional(NameField),
    description: Type.Optional(AboutField),
    websiteUrl: Type.Optional(WebsiteField),
    requireSecondFactor: Type.Optional(
      Type.Boolean({
        description:
          "For owners, in a session that used a second factor within 15 minutes. While true, sessions without a second factor " +
          "cannot access the organization. API keys are not affected.",
      }),
    ),
  },
  {
    title: "OrganizationUpdate",
    additionalProperties: false,
    examples: [
      { name: "Demo", description: "Shows what the service does", websiteUrl: "https://demo.example" },
    ],
  },
);

export const updateOrganization = operation(
  {
    id: "updateOrganization",
    method: "PATCH",
    path: "/api/v1/orgs/{slug}",
    access: "caller",
    tag: ORGS_TAG,
    summary: "Update an organization",
    description:
      "The public profile, for owners and admins, and `requireSecondFactor`, for owners. Omitted fields stay unchanged. The " +
      "slug cannot be changed.",
    params: OrgParams.properties,
    body: OrgUpdate,
    response: { 200: OrgProfile },
    fails: [
      ...ORG_FAILURES,
      "INSUFFICIENT_ORG_ROLE",
      "KEY_KIND_FORBIDDEN",
      "SESSION_REQUIRED",
      "UNPROCESSABLE_ENTITY",
    ],
  },
  async ({ caller, request, params, body }, { sql }) => {
    const org = await requireOwnOrg(sql, { caller, slug: params.slug });
    // A denied update is an entry in the organization's audit log.
    requestContext(request).orgId = org.id;
    requireAllowed(hasOrgRole(org.role, "admin"));
    requireAllowed(isPersonalCredential(caller.credential));
    if (body.requireSecondFactor !== undefined) await requireOwnFactor(sql, { caller, role: org.role });
    checkProfileUpdate(body, { name: nameProblem, description: aboutProblem, websiteUrl: websiteProblem });
    const changed = Object.keys(body);
    if (changed.length > 0) {
      const actor = auditActor(request, caller);
      await sql.begin(async (tx) => {
        await updateOrg(tx, org.slug, body);
        const role = body.requireSecondFactor === undefined ? "admin" : "owner";
        await requireActorRole(tx, { actor, org, role });
        await insertAuditEntry(tx, {
          ...actor,
          action: "org.update",
          subjectType: "organization",
          subjectId: org.id,
          orgId: org.id,
          details: {
            changed: changed.join(", "),
            ...(body.requireSecondFactor === undefined
              ? {}
              : { requireSecondFactor: body.requireSecondFactor }),
          },
        });
      });
    }
    const profile = await findOrgProfile(sql, org.slug);
    if (!profile) throw new ApiError("ORG_NOT_FOUND");
    return reply(200, { data: profile });
  },
);

/** Owners who have no second factor would lock themselves out. */
async function requireOwnFactor(
  sql: Sql,
  { caller, role }: { caller: Caller; role: OrgRole },
): Promise<void> {
  requireAllowed(hasOrgRole(role, "owner"));
  requireAllowed(isSession(caller.credential));
  if (!(await existsSecondFactor(sql, caller.userId))) throw noFactor();
  await requireRecentFactor(sql, caller);
}
