/** POST /orgs: creates an organization, as `admin org create` does. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { mayCreateOrgs } from "../../../shared/policy.ts";
import { requestBody } from "../../../shared/schemas.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { upsertMember } from "../../../sql/accounts/organization_members.ts";
import { countCreatedOrgs, insertOrg, type NewOrg, type OrgRow } from "../../../sql/accounts/orgs.ts";
import { type Sql, violates } from "../../../sql/connection/pool.ts";
import { auditActor } from "../../http/audit_actor.ts";
import { operation, reply } from "../../http/operation.ts";
import { accountSlugProblem, checkTexts, nameProblem } from "../profile_fields.ts";
import { requireOwnOrg } from "../require_own_org.ts";
import { lockCaller } from "../require_proof.ts";
import { ORGS_TAG, OrgDetail } from "./schemas.ts";

/** Organizations that a user can create. */
export const CREATED_ORGS_MAX = 10;

export const createOrganization = operation(
  {
    id: "createOrganization",
    method: "POST",
    path: "/api/v1/orgs",
    access: "session",
    tag: ORGS_TAG,
    summary: "Create an organization",
    description:
      "You become its owner. It starts on the free tier. You can create ten; deleted ones do not count. The slug cannot be " +
      "changed later. It is unique among organizations, including deleted ones, and usernames. If `ORGANIZATION_CREATION` " +
      "is `admin`, only platform administrators can create organizations.",
    body: requestBody(
      "NewOrganization",
      {
        slug: Type.String({
          description:
            "1 to 63 characters of a-z, 0-9, dot, underscore and hyphen; the first is a letter or digit",
        }),
        name: Type.String({ description: "At most 200 characters" }),
      },
      { slug: "acme", name: "Acme" },
    ),
    response: { 201: OrgDetail },
    fails: [
      "ROLE_REQUIRED",
      ["NAME_TAKEN", { type: "organization", name: "acme" }],
      ["QUOTA_EXCEEDED", { quota: "organizations", limit: CREATED_ORGS_MAX }],
    ],
  },
  async ({ body: { slug, name }, caller, request }, deps) => {
    const { userId, platformRole } = caller;
    const verdict = mayCreateOrgs({ creators: deps.config.organizationCreation, platformRole });
    if (!verdict.ok) {
      const message = TEXTS.ROLE_REQUIRED.organizations;
      throw new ApiError(verdict.code, { message, details: verdict.details });
    }
    checkTexts({ slug, name }, { slug: accountSlugProblem, name: nameProblem });
    await deps.writeInTurn(request, async (tx) => {
      await lockCaller(tx, caller);
      if ((await countCreatedOrgs(tx, userId)) >= CREATED_ORGS_MAX)
        throw new ApiError("QUOTA_EXCEEDED", {
          details: { quota: "organizations", limit: CREATED_ORGS_MAX },
        });
      const actor = auditActor(request, caller);
      const org = await createOrg(tx, { slug, name, subscriptionTier: "free", createdBy: userId, actor });
      await upsertMember(tx, { orgId: org.id, userId, role: "owner" });
    });
    return reply(201, { data: await requireOwnOrg(deps.sql, { caller, slug }) });
  },
);

/** Creates an organization without members. Throws NAME_TAKEN. Call inside a transaction. */
export async function createOrg(
  tx: Sql,
  options: Omit<NewOrg, "isPersonal"> & { actor: AuditActor },
): Promise<OrgRow> {
  const { actor, ...input } = options;
  const org = await insertOrg(tx, { ...input, isPersonal: false }).catch((error: unknown) => {
    if (!violates(error, "organizations_slug_key")) throw error;
    throw new ApiError("NAME_TAKEN", {
      message: TEXTS.NAME_TAKEN.organization(input.slug),
      details: { type: "organization", name: input.slug },
    });
  });
  await insertAuditEntry(tx, {
    ...actor,
    action: "org.create",
    subject: { type: "organization", id: org.id },
    orgId: org.id,
    details: { slug: org.slug, subscriptionTier: org.subscriptionTier },
  });
  return org;
}
