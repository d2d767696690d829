/** Table `users`: the accounts. Password hashes leave it only through the functions that check them. */
import type { PlatformRole } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";

/** What reads return: everything of an account but its password. */
const COLUMNS = ["id", "username", "email", "platform_role", "name", "disabled_at", "created_at"];

export interface UserRow {
  id: string;
  username: string;
  email: string;
  platformRole: PlatformRole;
  name: string | null;
  /** While it is set, every credential of the account is refused. */
  disabledAt: string | null;
  createdAt: string;
}

/** Finds an account; `null` when there is none. */
export async function findUser(sql: Sql, id: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where id = ${id}`;
  return row ?? null;
}

/** What everyone may know of an account. */
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

/** Finds a public profile; `null` when there is no such account. */
export async function findUserProfile(sql: Sql, id: string): Promise<UserProfileRow | null> {
  const [row] = await listUserProfiles(sql, [id]);
  return row ?? null;
}

/** The public profiles of accounts, in no order; ids of no account are left out. */
export async function listUserProfiles(sql: Sql, ids: readonly string[]): Promise<UserProfileRow[]> {
  return sql<UserProfileRow[]>`
    select ${sql(PROFILE_COLUMNS)}
    from users
    where id = any (${[...ids]}::uuid[])`;
}

/** An account with what its password is checked against. */
export type UserWithPassword = UserRow & { passwordHash: string };

/** Finds the account that signs in with an email address, in any case; `null` when there is none. */
export async function findUserForLogin(sql: Sql, email: string): Promise<UserWithPassword | null> {
  const [row] = await sql<UserWithPassword[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where lower(email) = lower(${email})`;
  return row ?? null;
}

/** Finds an account by its id, with what its password is checked against; `null` when there is none. */
export async function findUserWithPassword(sql: Sql, id: string): Promise<UserWithPassword | null> {
  const [row] = await sql<UserWithPassword[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where id = ${id}`;
  return row ?? null;
}

/** All accounts, newest first. */
export async function listUsers(sql: Sql): Promise<UserRow[]> {
  return sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    order by created_at desc, id`;
}

/** Finds an account by its username; `null` when there is none. */
export async function findUserByUsername(sql: Sql, username: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`
    select ${sql(COLUMNS)}
    from users
    where username = ${username}`;
  return row ?? null;
}

export interface NewUser {
  /** Random if undefined. */
  id?: string | undefined;
  username: string;
  email: string;
  /** argon2id in the PHC string form, from `hashPassword`. */
  passwordHash: string;
  platformRole: PlatformRole;
  name: string | null;
}

/**
 * Inserts an account. Throws on users_username_key and users_email_key when either is taken, and on
 * users_username_check and users_email_check when either is malformed.
 */
export async function insertUser(sql: Sql, user: NewUser): Promise<UserRow> {
  const [row] = await sql<[UserRow]>`
    insert into users (id, username, email, password_hash, platform_role, name)
    values (coalesce(${user.id ?? null}::uuid, gen_random_uuid()), ${user.username}, ${user.email}, ${user.passwordHash}, ${user.platformRole}, ${user.name})
    returning ${sql(COLUMNS)}`;
  return row;
}

/** What an operator, or the user, can change of an account; what is left out stays. */
export interface UserChanges {
  name?: string | null;
  email?: string;
  bio?: string | null;
  websiteUrl?: string | null;
  platformRole?: PlatformRole;
}

/**
 * Changes an account; `null` when there is none. Throws on users_email_key when another account has the email, and on
 * users_email_check when it is malformed. `changes` must not be empty.
 */
export async function updateUser(sql: Sql, id: string, changes: UserChanges): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`
    update users
    set ${sql({ ...changes })}, updated_at = now()
    where id = ${id}
    returning ${sql(COLUMNS)}`;
  return row ?? null;
}

/**
 * Replaces the password of an account. False when `fromHash` is given and is not the account's any more: somebody else
 * was faster.
 */
export async function updateUserPassword(
  sql: Sql,
  user: { id: string; passwordHash: string; fromHash?: string },
): Promise<boolean> {
  const { count } = await sql`
    update users
    set password_hash = ${user.passwordHash}, updated_at = now()
    where id = ${user.id} and password_hash = coalesce(${user.fromHash ?? null}, password_hash)`;
  return count > 0;
}

/** Disables or enables an account and returns when it was disabled. A second time changes nothing. */
export async function updateUserDisabled(
  sql: Sql,
  user: { id: string; isDisabled: boolean },
): Promise<string | null> {
  const [row] = await sql<{ disabledAt: string | null }[]>`
    update users
    set disabled_at = case when ${user.isDisabled} then coalesce(disabled_at, now()) end, updated_at = now()
    where id = ${user.id}
    returning disabled_at`;
  return row?.disabledAt ?? null;
}

/**
 * Makes others who give the account a credential, change its password or disable it wait until this transaction ends.
 * False when it is disabled, or its password is not `passwordHash`, where that is given.
 */
export async function lockActiveUser(
  sql: Sql,
  user: { id: string; passwordHash?: string },
): Promise<boolean> {
  const rows = await sql`
    select id
    from users
    where id = ${user.id}
      and disabled_at is null
      and password_hash = coalesce(${user.passwordHash ?? null}, password_hash)
    for no key update`;
  return rows.length > 0;
}
