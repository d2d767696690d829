/** Validates, hashes and verifies passwords. Only the hashes are stored. */
import { Type } from "@sinclair/typebox";
import { dictionary } from "@zxcvbn-ts/language-common";
import { countCharacters, isLongerThan, normalizeText } from "../../shared/characters.ts";
import { invalidField } from "../http/validation_problems.ts";

export const PASSWORD_MIN_LENGTH = 8;
/** Long enough for any passphrase. The limit bounds the work of hashing. */
export const PASSWORD_MAX_LENGTH = 1024;

/** A new password in the body of a request. */
export const PasswordField = Type.String({
  minLength: PASSWORD_MIN_LENGTH,
  maxLength: PASSWORD_MAX_LENGTH,
  description: "Not one of the 10,000 most common passwords, nor like the username or email",
});

/** The most common passwords. The dictionary is sorted by rank. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(dictionary["passwords-common"].slice(0, 10_000));

/** Minimum length of a compared part. Shorter parts occur in many words by chance. */
const MIN_OWN_PART = 3;

/** The owner of a password. Attackers try the username and the email as passwords first. Usernames are public. */
export interface PasswordOwner {
  username: string;
  email: string;
}

/** Throws VALIDATION_ERROR if the owner cannot use the new password. */
export function requireGoodPassword(newPassword: string, owner: PasswordOwner): void {
  const problem = passwordProblem(newPassword, owner);
  if (problem) throw invalidField("newPassword", problem);
}

/**
 * Returns why the owner cannot use a password, worded to follow the field's name; null if the password is valid. Ignores case
 * and full-width forms.
 */
export function passwordProblem(password: string, { username, email }: PasswordOwner): string | null {
  if (isLongerThan(password, PASSWORD_MAX_LENGTH) || countCharacters(password) < PASSWORD_MIN_LENGTH) {
    return `must have ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`;
  }
  if (COMMON_PASSWORDS.has(plain(password)))
    return "is one of the 10,000 most common passwords: choose another";
  return isLike(password, username) || isLike(password, email)
    ? "must not contain the username or the email address, or be part of one: choose another"
    : null;
}

/** Returns whether a password contains its owner's name or address, or is contained in one of them. */
export function isLike(password: string, own: string): boolean {
  const [text, ownText] = [plain(password), plain(own)];
  return isPart(ownText, text) || isPart(text, ownText);
}

function isPart(part: string, text: string): boolean {
  return part.length >= MIN_OWN_PART && text.includes(part);
}

function plain(text: string): string {
  return normalizeText(text, "NFKC").toLowerCase().trim();
}

/**
 * Hash of an unknown password, as costly to verify as hashes of `hashPassword`. It is verified if the account does not exist, so
 * that the response takes the same time.
 */
export const DUMMY_PASSWORD_HASH =
  "$argon2id$v=19$m=65536,t=2,p=1$nppFUxxr58p5jHFv0zVP92C+pzdlh48U3ZnMvpn3MUw$aYXN661AKjhaeWM9bMtkNydmiTegq8e2HbUFKeV/cig";

/** Returns an argon2id hash with a random salt, in the PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id" });
}

/** Returns whether a password matches a hash. Operators may store `!`, which matches no password (docs/operating.md). */
export async function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  return Bun.password.verify(password, passwordHash === "!" ? DUMMY_PASSWORD_HASH : passwordHash, "argon2id");
}
