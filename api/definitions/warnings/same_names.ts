/** Warnings about new versions of a name that the caller may also write in another organization. */

import { OTHER_ORG_ADVICE } from "../../../shared/error_texts.ts";
import { mayWriteDefinitions } from "../../../shared/policy.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { listMembershipsByName } from "../../../sql/accounts/organization_members.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { Writer } from "../new_draft.ts";
import type { Warning } from "../schemas.ts";

interface NamedDefinition {
  type: DefinitionType;
  name: string;
}

/**
 * Returns a SAME_NAME_ELSEWHERE warning by `type name` for each name that the writer may also change in an organization
 * other than theirs. Calls that name their organization get none.
 */
export async function listSameNames(
  sql: Sql,
  { caller, viewer, org, isOrgNamed }: Writer,
  definitions: readonly NamedDefinition[],
): Promise<Map<string, Warning>> {
  if (isOrgNamed || definitions.length === 0) return new Map();
  const memberships = await listMembershipsByName(sql, { userId: caller.userId, names: definitions });
  const others = memberships
    .filter(({ orgId, role }) => orgId !== org.orgId && mayWriteDefinitions(role).ok)
    .filter(({ requireSecondFactor }) => !(viewer.isUnproven && requireSecondFactor));
  const byName = Map.groupBy(others, ({ type, name }) => `${type} ${name}`);
  return new Map(
    [...byName].map(([key, rows]) => {
      const [{ type, name } = { type: "", name: "" }] = rows;
      const organizations = rows.map(({ slug }) => slug);
      const message =
        `You can also write ${type} "${name}" in ${organizations.join(", ")}. This request names no organization, so it means ` +
        `"${org.slug}". ${OTHER_ORG_ADVICE}`;
      return [key, { code: "SAME_NAME_ELSEWHERE", message, details: { type, name, organizations } }];
    }),
  );
}
