/** Table `recovery_codes`: codes that stand in for a lost second factor, each once. Only a code's SHA-256 is stored. */
import { anyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** Replaces all recovery codes of a user; without `hashes`, deletes them. */
export async function replaceRecoveryCodes(
  sql: Sql,
  codes: { userId: string; hashes: readonly Buffer[] },
): Promise<void> {
  await sql`
    delete from recovery_codes
    where user_id = ${codes.userId}`;
  if (codes.hashes.length === 0) return;
  await sql`
    insert into recovery_codes (user_id, code_hash)
    select ${codes.userId}, decode(hex, 'hex')
    from unnest(${codes.hashes.map((hash) => hash.toString("hex"))}::text[]) as hex`;
}

/** Marks a code as used; false if the user has no such code, or it was used. */
export async function markRecoveryCodeUsed(
  sql: Sql,
  code: { userId: string; hash: Buffer },
): Promise<boolean> {
  return anyRow(sql`
    update recovery_codes
    set used_at = now()
    where user_id = ${code.userId} and code_hash = ${code.hash} and used_at is null
    returning user_id`);
}

export async function countRecoveryCodes(sql: Sql, userId: string): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count
    from recovery_codes
    where user_id = ${userId} and used_at is null`);
}
