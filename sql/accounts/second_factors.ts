/**
 * Table `second_factors`: authenticator apps (TOTP) and passkeys of users. Table `recovery_codes`: single-use codes that replace a
 * lost factor. Only the SHA-256 of a code is stored.
 */
import type { FactorKind } from "../../shared/vocabulary.ts";
import { anyRow, firstRow, onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

/** A factor without its secret. */
export interface SecondFactorRow {
  id: string;
  kind: FactorKind;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

const COLUMNS = ["id", "kind", "name", "created_at", "last_used_at"];

/** Lists the factors of a user, oldest first. */
export async function listSecondFactors(sql: Sql, userId: string): Promise<SecondFactorRow[]> {
  return sql<SecondFactorRow[]>`
    select ${sql(COLUMNS)}
    from second_factors
    where user_id = ${userId}
    order by created_at, id`;
}

export async function existsSecondFactor(sql: Sql, userId: string): Promise<boolean> {
  return anyRow(sql`select from second_factors where user_id = ${userId} limit 1`);
}

/** Inserts an authenticator app whose code for the step `lastStep` was accepted. */
export async function insertTotpFactor(
  sql: Sql,
  factor: { userId: string; name: string; secret: Uint8Array; lastStep: number },
): Promise<SecondFactorRow> {
  return onlyRow(sql<[SecondFactorRow]>`
    insert into second_factors (user_id, kind, name, secret, last_step)
    values (${factor.userId}, 'totp', ${factor.name}, ${factor.secret}, ${factor.lastStep})
    returning ${sql(COLUMNS)}`);
}

export interface NewPasskey extends Omit<PasskeyRow, "id"> {
  userId: string;
  name: string;
}

/** Inserts a passkey; null if the passkey is already registered, even by another user. */
export async function insertPasskey(sql: Sql, passkey: NewPasskey): Promise<SecondFactorRow | null> {
  const { userId, name, credentialId, publicKey, signCount, transports } = passkey;
  return firstRow(sql<SecondFactorRow[]>`
    insert into second_factors (user_id, kind, name, credential_id, public_key, sign_count, transports)
    values (${userId}, 'passkey', ${name}, ${credentialId}, ${publicKey}, ${signCount}, ${transports})
    on conflict on constraint second_factors_credential_id_key do nothing
    returning ${sql(COLUMNS)}`);
}

/** Renames a factor of a user; null if the user has no such factor. */
export async function updateFactorName(
  sql: Sql,
  factor: { id: string; userId: string; name: string },
): Promise<SecondFactorRow | null> {
  return firstRow(sql<SecondFactorRow[]>`
    update second_factors
    set name = ${factor.name}
    where id = ${factor.id} and user_id = ${factor.userId}
    returning ${sql(COLUMNS)}`);
}

/** Deletes a factor of a user; null if the user has no such factor. */
export async function deleteSecondFactor(
  sql: Sql,
  factor: { id: string; userId: string },
): Promise<SecondFactorRow | null> {
  return firstRow(sql<SecondFactorRow[]>`
    delete from second_factors
    where id = ${factor.id} and user_id = ${factor.userId}
    returning ${sql(COLUMNS)}`);
}

/** Deletes all factors of a user, and returns their number. */
export async function deleteSecondFactors(sql: Sql, userId: string): Promise<number> {
  const { count } = await sql`
    delete from second_factors
    where user_id = ${userId}`;
  return count;
}

/** The data for checking the codes of an authenticator app. */
export interface TotpFactorRow {
  id: string;
  secret: Uint8Array;
  lastStep: number;
  /** The number of wrong codes within a day of the first wrong code. */
  wrongCodes: number;
  /** Milliseconds until one day after the first wrong code; 0 if that time has passed. */
  waitMs: number;
  /** The database's time in milliseconds since the epoch. */
  nowMs: number;
}

/** Lists and locks the authenticator apps of a user, so that a code is accepted only once. Call it inside a transaction. */
export async function lockTotpFactors(sql: Sql, userId: string): Promise<TotpFactorRow[]> {
  return sql<TotpFactorRow[]>`
    select id, secret, last_step::float8 as last_step,
      case when wrong_codes_since > now() - interval '1 day' then wrong_codes else 0 end as wrong_codes,
      coalesce(greatest(0, extract(epoch from wrong_codes_since + interval '1 day' - now())) * 1000, 0)::float8 as wait_ms,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from second_factors
    where user_id = ${userId} and kind = 'totp'
    order by id
    for update`;
}

/** Records the step of a code that was accepted. */
export async function updateTotpLastStep(sql: Sql, factor: { id: string; lastStep: number }): Promise<void> {
  await sql`
    update second_factors
    set last_step = ${factor.lastStep}, last_used_at = now()
    where id = ${factor.id}`;
}

/** Counts a wrong code for all authenticator apps of a user, and returns the highest of the apps' counts. */
export async function countWrongCode(sql: Sql, userId: string): Promise<number> {
  const rows = await sql<{ wrongCodes: number }[]>`
    update second_factors
    set
      wrong_codes = case when wrong_codes_since > now() - interval '1 day' then wrong_codes + 1 else 1 end,
      wrong_codes_since = case when wrong_codes_since > now() - interval '1 day' then wrong_codes_since else now() end
    where user_id = ${userId} and kind = 'totp'
    returning wrong_codes`;
  return Math.max(0, ...rows.map(({ wrongCodes }) => wrongCodes));
}

/** The data for checking the signatures of a passkey. */
export interface PasskeyRow {
  id: string;
  credentialId: Uint8Array;
  publicKey: Uint8Array;
  signCount: number;
  transports: string[];
}

/** Lists and locks the passkeys of a user. Call it inside a transaction. */
export async function lockPasskeys(sql: Sql, userId: string): Promise<PasskeyRow[]> {
  return sql<PasskeyRow[]>`
    select id, credential_id, public_key, sign_count::float8 as sign_count, transports
    from second_factors
    where user_id = ${userId} and kind = 'passkey'
    order by created_at, id
    for update`;
}

export async function updatePasskeyUse(sql: Sql, passkey: { id: string; signCount: number }): Promise<void> {
  await sql`
    update second_factors
    set sign_count = ${passkey.signCount}, last_used_at = now()
    where id = ${passkey.id}`;
}

/** Replaces all recovery codes of a user; deletes them if `hashes` is empty. */
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

/** Marks a recovery code as used. Returns false if the user has no such code or has already used it. */
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
