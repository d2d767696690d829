/** Passwords: which ones are accepted, and the only form in which they are stored. */
import { Type } from "@sinclair/typebox";
import { dictionary } from "@zxcvbn-ts/language-common";
import { countCharacters, isLongerThan, normalizeText } from "../../shared/characters.ts";
import { invalidField } from "../http/validation_problems.ts";

export const PASSWORD_MIN_LENGTH = 8;
/** Long enough for any passphrase; bounds the work that hashing one can cause. */
export const PASSWORD_MAX_LENGTH = 1024;

/** A new password in the body of a request. */
export const PasswordField = Type.String({
  minLength: PASSWORD_MIN_LENGTH,
  maxLength: PASSWORD_MAX_LENGTH,
  description: "Not one of the 10,000 most common passwords, nor like the username or email",
});

/** The most common ones. The dictionary is ranked. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(dictionary["passwords-common"].slice(0, 10_000));

/** Shorter parts are in many words by chance. */
const MIN_OWN_PART = 3;

/** The owner of a password. An attacker tries both as passwords first: usernames are public. */
export interface PasswordOwner {
  username: string;
  email: string;
}

/** Throws VALIDATION_ERROR for a new password that its owner cannot have. */
export function requireGoodPassword(newPassword: string, owner: PasswordOwner): void {
  const problem = passwordProblem(newPassword, owner);
  if (problem) throw invalidField("newPassword", problem);
}

/**
 * Why a person cannot have a password, to follow its name in a sentence; null if they can. Case does not matter, nor do
 * full-width letters.
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

/** Whether a password contains a name or address of its owner, or is part of it. */
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
 * The hash of an unknown password, as costly to verify as those of `hashPassword`. It is verified if there is no
 * account, so that the response takes the same time.
 */
export const DUMMY_PASSWORD_HASH =
  "$argon2id$v=19$m=65536,t=2,p=1$nppFUxxr58p5jHFv0zVP92C+pzdlh48U3ZnMvpn3MUw$aYXN661AKjhaeWM9bMtkNydmiTegq8e2HbUFKeV/cig";

/** argon2id in the PHC string form, with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id" });
}

/** Whether a password is the one that was hashed. Operators may store `!`, which no password matches (docs/operating.md). */
export async function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  return Bun.password.verify(password, passwordHash === "!" ? DUMMY_PASSWORD_HASH : passwordHash, "argon2id");
}
