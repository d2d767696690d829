/** Table `users`. Only the functions for checking passwords return password hashes. */
import type { PlatformRole } from "../../shared/vocabulary.ts";
import { firstRow, firstValue, onlyRow, type Sql } from "../connection/pool.ts";

/** The columns of a `UserRow`: neither the password hash nor profile fields such as the bio. */
const COLUMNS = ["id", "username", "email", "platform_role", "name", "disabled_at", "created_at"];

export interface UserRow {
  id: string;
  username: string;
  email: string;
  platformRole: PlatformRole;
  name: string | null;
  /** The time at which the account was disabled. If set, all of the account's credentials are rejected. */
  disabledAt: string | null;
  createdAt: string;
}

/** Finds an account by its id; null if not found. */
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

/** Finds the public profile of an account; null if there is no such account. */
export async function findUserProfile(sql: Sql, id: string): Promise<UserProfileRow | null> {
  return firstRow(listUserProfiles(sql, [id]));
}

/** Lists public profiles in no particular order. Unknown ids are omitted. */
export async function listUserProfiles(sql: Sql, ids: readonly string[]): Promise<UserProfileRow[]> {
  return sql<UserProfileRow[]>`
    select ${sql(PROFILE_COLUMNS)}
    from users
    where id = any (${[...ids]}::uuid[])`;
}

/** Finds an account by its email, ignoring case; null if not found. */
export async function findUserByEmail(sql: Sql, email: string): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where lower(email) = lower(${email})`);
}

export type UserWithPassword = UserRow & { passwordHash: string };

/** Finds an account and its password hash by email, ignoring case; null if not found. */
export async function findUserForLogin(sql: Sql, email: string): Promise<UserWithPassword | null> {
  return firstRow(sql<UserWithPassword[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where lower(email) = lower(${email})`);
}

/** Finds an account and its password hash by id; null if not found. */
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

/** Finds an account by its username; null if not found. */
export async function findUserByUsername(sql: Sql, username: string): Promise<UserRow | null> {
  return firstRow(sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where username = ${username}`);
}

export interface NewUser extends Pick<UserRow, "username" | "email" | "platformRole" | "name"> {
  /** The account's id; random if undefined. */
  id?: string | undefined;
  /** The argon2id hash in PHC string format, from `hashPassword`. */
  passwordHash: string;
}

/**
 * Inserts an account. Violates users_username_key or users_email_key if the username or email is taken. Violates
 * users_username_check or users_email_check if the username or email is malformed.
 */
export async function insertUser(sql: Sql, user: NewUser): Promise<UserRow> {
  return onlyRow(sql<[UserRow]>`
    insert into users (id, username, email, password_hash, platform_role, name)
    values (coalesce(${user.id ?? null}::uuid, gen_random_uuid()), ${user.username}, ${user.email}, ${user.passwordHash}, ${user.platformRole}, ${user.name})
    returning ${sql(COLUMNS)}`);
}

/** The fields of an account that can be changed. Omitted fields keep their values. */
export interface UserChanges {
  name?: string | null;
  email?: string;
  bio?: string | null;
  websiteUrl?: string | null;
  platformRole?: PlatformRole;
}

/**
 * Updates an account. `changes` must not be empty. Violates users_email_key if another account has the email, and users_email_check
 * if the email is malformed.
 */
export async function updateUser(sql: Sql, id: string, changes: UserChanges): Promise<void> {
  await sql`
    update users
    set ${sql({ ...changes })}, updated_at = now()
    where id = ${id}`;
}

/** Replaces the password hash of an account. Returns false if `fromHash` is given and is no longer the current hash. */
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

/** Disables or enables an account. Returns the time at which the account was disabled, or null if it is enabled. Idempotent. */
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

/** Locks an account, even a disabled one, so that concurrent changes of its second factors run one after the other. */
export async function lockUser(tx: Sql, id: string): Promise<void> {
  await tx`select id from users where id = ${id} for no key update`;
}

/**
 * Finds an account and locks it until the transaction ends, to prevent new credentials, password changes and disabling. Returns
 * null if the account is disabled, or if `passwordHash` is given and is not the current hash.
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
