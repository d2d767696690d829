/** Checks that a key or session still works. */
import type { Credential } from "../../shared/policy.ts";
import type { Sql } from "../connection/pool.ts";

/** Returns false if a key or session is revoked or expired, or its user is disabled. */
export async function isCredentialLive(
  sql: Sql,
  { type, id }: Pick<Credential, "type" | "id">,
): Promise<boolean> {
  const rows = await sql`
    select
    from ${sql(type === "key" ? "api_keys" : "sessions")} as c
    join users u on u.id = c.user_id
    where c.id = ${id}
      and c.revoked_at is null
      and (c.expires_at is null or c.expires_at > now())
      and u.disabled_at is null`;
  return rows.length > 0;
}
