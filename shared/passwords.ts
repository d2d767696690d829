/** Passwords: how long they must be, and the only form in which they are stored. */

export const PASSWORD_MIN_LENGTH = 8;
/** Long enough for any passphrase; bounds the work that hashing one can cause. */
export const PASSWORD_MAX_LENGTH = 1024;

/** True when a password may be set. */
export function isAcceptablePassword(password: string): boolean {
  return password.length >= PASSWORD_MIN_LENGTH && password.length <= PASSWORD_MAX_LENGTH;
}

/** argon2id in the PHC string form, with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id" });
}

/** Whether a password is the one that was hashed. */
export async function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  return Bun.password.verify(password, passwordHash, "argon2id");
}
