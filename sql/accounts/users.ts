/** Table `users`. Only the functions for checking passwords return password hashes. */
import type { PlatformRole } from "../../shared/vocabulary.ts";
import { firstRow, firstValue, onlyRow, type Sql } from "../connection/pool.ts";

/** An account without its password. */
const COLUMNS = ["id", "username", "email", "platform_role", "name", "disabled_at", "created_at"];

export interface UserRow {
  id: string;
  username: string;
  email: string;
  platformRole: PlatformRole;
  name: string | null;
  /** While set, every credential of the account is rejected. */
  disabledAt: string | null;
  createdAt: string;
}

/** Finds an account; null if there is none. */
export async function findUser(sql: Sql, id: string): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where id = ${id}`);
}

/** The public profile of an account. */
export interface UserProfileRow {
  id: string;
  username: string;
  name: string | null;
  bio: string | null;
  websiteUrl: string | null;
  avatar: string | null;
  avatarMimeType: string | null;
}

const PROFILE_COLUMNS = ["id", "username", "name", "bio", "website_url", "avatar", "avatar_mime_type"];

/** Finds a public profile; null if there is no such account. */
export async function findUserProfile(sql: Sql, id: string): Promise<UserProfileRow | null> {
  return firstRow(listUserProfiles(sql, [id]));
}

/** Lists public profiles in no order; unknown ids are omitted. */
export async function listUserProfiles(sql: Sql, ids: readonly string[]): Promise<UserProfileRow[]> {
  return sql<UserProfileRow[]>`
    select ${sql(PROFILE_COLUMNS)}
    from users
    where id = any (${[...ids]}::uuid[])`;
}

/** Finds an account by its email, ignoring case; null if there is none. */
export async function findUserByEmail(sql: Sql, email: string): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where lower(email) = lower(${email})`);
}

export type UserWithPassword = UserRow & { passwordHash: string };

/** Finds an account by its email, ignoring case, with its password hash; null if there is none. */
export async function findUserForLogin(sql: Sql, email: string): Promise<UserWithPassword | null> {
  return firstRow(sql<UserWithPassword[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where lower(email) = lower(${email})`);
}

/** Finds an account by its id, with its password hash; null if there is none. */
export async function findUserWithPassword(sql: Sql, id: string): Promise<UserWithPassword | null> {
  return firstRow(sql<UserWithPassword[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where id = ${id}`);
}

/** Lists all accounts, newest first. */
export async function listUsers(sql: Sql): Promise<UserRow[]> {
  return sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    order by created_at desc, id`;
}

/** Finds an account by its username; null if there is none. */
export async function findUserByUsername(sql: Sql, username: string): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where username = ${username}`);
}

export interface NewUser extends Pick<UserRow, "username" | "email" | "platformRole" | "name"> {
  /** Random if undefined. */
  id?: string | undefined;
  /** argon2id in the PHC string form, from `hashPassword`. */
  passwordHash: string;
}

/**
 * Inserts an account. Violates users_username_key or users_email_key if one is taken, and users_username_check or
 * users_email_check if one is malformed.
 */
export async function insertUser(sql: Sql, user: NewUser): Promise<UserRow> {
  return onlyRow(sql<[UserRow]>`
    insert into users (id, username, email, password_hash, platform_role, name)
    values (coalesce(${user.id ?? null}::uuid, gen_random_uuid()), ${user.username}, ${user.email}, ${user.passwordHash}, ${user.platformRole}, ${user.name})
    returning ${sql(COLUMNS)}`);
}

/** The fields of an account that can be changed; omitted ones stay. */
export interface UserChanges {
  name?: string | null;
  email?: string;
  bio?: string | null;
  websiteUrl?: string | null;
  platformRole?: PlatformRole;
}

/**
 * Changes an account. Violates users_email_key if another account has the email, and users_email_check if it is malformed.
 * `changes` must not be empty.
 */
export async function updateUser(sql: Sql, id: string, changes: UserChanges): Promise<void> {
  await sql`
    update users
    set ${sql({ ...changes })}, updated_at = now()
    where id = ${id}`;
}

/** Replaces the password of an account. False if `fromHash` is given and is no longer current. */
export async function updateUserPassword(
  sql: Sql,
  user: { id: string; passwordHash: string; fromHash?: string | undefined },
): Promise<boolean> {
  const { count } = await sql`
    update users
    set password_hash = ${user.passwordHash}, updated_at = now()
    where id = ${user.id} and password_hash = coalesce(${user.fromHash ?? null}, password_hash)`;
  return count > 0;
}

/** Disables or enables an account and returns when it was disabled. Idempotent. */
export async function updateUserDisabled(
  sql: Sql,
  user: { id: string; isDisabled: boolean },
): Promise<string | null> {
  return firstValue(sql<{ disabledAt: string | null }[]>`
    update users
    set disabled_at = case when ${user.isDisabled} then coalesce(disabled_at, now()) end, updated_at = now()
    where id = ${user.id}
    returning disabled_at`);
}

/** Locks an account, even a disabled one: changes of its factors happen one after the other. */
export async function lockUser(tx: Sql, id: string): Promise<void> {
  await tx`select id from users where id = ${id} for no key update`;
}

/**
 * Finds an account and locks it until the transaction ends, against new credentials, changes of the password, and disabling.
 * Null if it is disabled, or its password is not `passwordHash`, if given.
 */
export async function lockActiveUser(
  sql: Sql,
  user: { id: string; passwordHash?: string | undefined },
): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where id = ${user.id}
      and disabled_at is null
      and password_hash = coalesce(${user.passwordHash ?? null}, password_hash)
    for no key update`);
}
