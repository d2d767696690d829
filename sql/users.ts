/** Table `users`: the accounts. Password hashes leave it only through the functions that check them. */
import type { PlatformRole } from "../shared/vocabulary.ts";
import type { Sql } from "./pool.ts";

/** What reads return: everything of an account but its password. */
const COLUMNS = ["id", "username", "email", "platform_role", "name", "created_at"];

export interface UserRow {
  id: string;
  username: string;
  email: string;
  platformRole: PlatformRole;
  name: string | null;
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

/** Finds whoever signs in with an email address, in any case, with what the password is checked against. */
export async function findUserForLogin(
  sql: Sql,
  email: string,
): Promise<(UserRow & { passwordHash: string }) | null> {
  const [row] = await sql<(UserRow & { passwordHash: string })[]>`
    select ${sql(COLUMNS)}, password_hash
    from users
    where lower(email) = lower(${email})`;
  return row ?? null;
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
    insert into users (username, email, password_hash, platform_role, name)
    values (${user.username}, ${user.email}, ${user.passwordHash}, ${user.platformRole}, ${user.name})
    returning ${sql(COLUMNS)}`;
  return row;
}

/** Replaces the password of an account. */
export async function updateUserPassword(
  sql: Sql,
  user: { id: string; passwordHash: string },
): Promise<void> {
  await sql`
    update users
    set password_hash = ${user.passwordHash}, updated_at = now()
    where id = ${user.id}`;
}
