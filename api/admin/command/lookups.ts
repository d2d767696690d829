/** Finds the organization or user named by a flag. Throws AdminError if it does not exist. */
import { NIL_UUID } from "../../../shared/uuid.ts";
import { findLeadingMember, findMemberRole } from "../../../sql/accounts/organization_members.ts";
import { findDefinitionOwnerId, findOrgBySlug, type OrgRow } from "../../../sql/accounts/orgs.ts";
import { findUserByUsername, type UserRow } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { AdminError, type Flag } from "./command.ts";

export const ORG_FLAG = {
  placeholder: "S",
  required: true,
  about: "slug of the organization",
} as const satisfies Flag;

export const USER_FLAG = { placeholder: "U", required: true, about: "username" } as const satisfies Flag;

/** Finds an organization by slug. */
export async function requireOrg(sql: Sql, slug: string): Promise<OrgRow> {
  const org = await findOrgBySlug(sql, slug);
  if (!org) throw orgNotFound(slug);
  return org;
}

/** Finds an organization's id by slug. Includes deleted organizations, whose definitions and audit entries remain. */
export async function requireOrgId(sql: Sql, slug: string): Promise<string> {
  const id = await findDefinitionOwnerId(sql, slug);
  if (id === null) throw orgNotFound(slug);
  return id;
}

function orgNotFound(slug: string): AdminError {
  return new AdminError(`Organization "${slug}" not found. See \`bun run admin org list\`.`, "NOT_FOUND");
}

/** Finds a user by username. */
export async function requireUser(sql: Sql, username: string): Promise<UserRow> {
  const user = await findUserByUsername(sql, username);
  if (!user)
    throw new AdminError(
      `User "${username}" not found. See the usernames in \`bun run admin user list\`.`,
      "NOT_FOUND",
    );
  return user;
}

/** Returns the id of the member `owner`; by default, of the highest-ranking member. Without members, returns the nil UUID. */
export async function findProjectOwner(
  tx: Sql,
  { org, owner }: { org: OrgRow; owner: string | undefined },
): Promise<string> {
  if (owner === undefined) return (await findLeadingMember(tx, org.id))?.userId ?? NIL_UUID;
  const user = await requireUser(tx, owner);
  if (await findMemberRole(tx, { orgId: org.id, userId: user.id })) return user.id;
  throw new AdminError(
    `Cannot make "${owner}" the owner of the project: the user is not a member of organization "${org.slug}"`,
  );
}
