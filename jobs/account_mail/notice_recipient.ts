/** Who gets a notice. */
import type { AccountMailRow } from "../../sql/accounts/account_mails.ts";
import { findMembership } from "../../sql/accounts/organization_members.ts";
import { findUser, type UserRow } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";

/**
 * Returns the user whom a notice is for, with the current address. Null if the account is disabled, or if the user is no
 * longer the member or owner whom the notice is for.
 */
export async function findNoticeRecipient(
  sql: Sql,
  { userId, orgId }: AccountMailRow,
  { mustBe }: { mustBe: "owner" | "member" | null },
): Promise<UserRow | null> {
  const user = userId === null ? null : await findUser(sql, userId);
  if (!user || user.disabledAt !== null) return null;
  if (mustBe === null) return user;
  const membership = orgId === null ? null : await findMembership(sql, { userId: user.id, orgId });
  return membership && (mustBe === "member" || membership.role === "owner") ? user : null;
}
