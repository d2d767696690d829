/** PATCH /orgs/{slug}: updates an organization's public profile and its second-factor requirement. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole, isPersonalCredential, isSession } from "../../../shared/policy.ts";
import { requestBody } from "../../../shared/schemas.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { findOrgProfile, type OrgChanges, updateOrg } from "../../../sql/accounts/orgs.ts";
import { existsSecondFactor } from "../../../sql/accounts/second_factors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { operation, reply } from "../../http/operation.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import {
  AboutField,
  aboutProblem,
  checkTexts,
  NameField,
  nameProblem,
  WebsiteField,
  websiteProblem,
} from "../profile_fields.ts";
import { requireActorRole, requireOrgRole } from "../require_own_org.ts";
import { noFactor, requireRecentFactor } from "../require_proof.ts";
import { OrgProfile } from "./profile.ts";
import { ORG_ROLE_FAILURES, ORGS_TAG, OrgParams } from "./schemas.ts";

const OrgUpdate = requestBody(
  "OrganizationUpdate",
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
  { name: "Demo", description: "Shows what the service does", websiteUrl: "https://demo.example" },
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
    params: OrgParams,
    body: OrgUpdate,
    response: { 200: OrgProfile },
    fails: [...ORG_ROLE_FAILURES, "KEY_KIND_FORBIDDEN", "SESSION_REQUIRED", "UNPROCESSABLE_ENTITY"],
  },
  async ({ caller, request, params, body }, deps) => {
    const org = await requireOrgRole(deps.sql, { caller, slug: params.slug, request, role: "admin" });
    requireAllowed(isPersonalCredential(caller.credential));
    if (body.requireSecondFactor !== undefined) {
      requireAllowed(hasOrgRole(org.role, "owner"));
      requireAllowed(isSession(caller.credential));
      // Otherwise, owners without a second factor would lock themselves out.
      if (!(await existsSecondFactor(deps.sql, caller.userId))) throw noFactor();
      await requireRecentFactor(deps.sql, caller);
    }
    const actor = auditActor(request, caller);
    await deps.writeInTurn(request, (tx) => changeOrg(tx, { org, changes: body, actor }));
    const profile = await findOrgProfile(deps.sql, org.slug);
    if (!profile) throw new ApiError("ORG_NOT_FOUND");
    return reply(200, { data: profile });
  },
);

/**
 * Changes the given fields and adds an audit entry with the fields' names. Does nothing without fields. Call inside a transaction.
 * Throws VALIDATION_ERROR, and INSUFFICIENT_ORG_ROLE if the actor has been demoted.
 */
export async function changeOrg(
  tx: Sql,
  change: { org: { id: string; slug: string }; changes: OrgChanges; actor: AuditActor },
): Promise<void> {
  const { org, changes, actor } = change;
  const { requireSecondFactor } = changes;
  checkOrgChanges(changes);
  const changed = Object.keys(changes);
  if (changed.length === 0) return;
  await updateOrg(tx, org.slug, changes);
  const role = requireSecondFactor === undefined ? "admin" : "owner";
  await requireActorRole(tx, { actor, org, role });
  await insertAuditEntry(tx, {
    ...actor,
    action: "org.update",
    subject: { type: "organization", id: org.id },
    orgId: org.id,
    details: {
      changed: changed.join(", "),
      ...(requireSecondFactor === undefined ? {} : { requireSecondFactor }),
    },
  });
}

/** Throws VALIDATION_ERROR with every invalid field. */
export function checkOrgChanges(changes: OrgChanges): void {
  checkTexts({ ...changes }, { name: nameProblem, description: aboutProblem, websiteUrl: websiteProblem });
}
