/** Checks that a key or session still works. */
import type { Credential } from "../../shared/policy.ts";
import { anyRow, type Sql } from "../connection/pool.ts";
import { isProvenEnough } from "./sessions.ts";

/** Returns false if a key or session is revoked or expired, or its user is disabled. */
export async function isCredentialLive(
  sql: Sql,
  { type, id }: Pick<Credential, "type" | "id">,
): Promise<boolean> {
  return anyRow(sql`
    select
    from ${sql(type === "key" ? "api_keys" : "sessions")} as s
    join users u on u.id = s.user_id
    where s.id = ${id}
      and s.revoked_at is null
      and (s.expires_at is null or s.expires_at > now())
      and u.disabled_at is null
      ${type === "key" ? sql`` : sql`and ${isProvenEnough(sql)}`}`);
}
