/** Profile fields of users and organizations: limits, body schemas and validation. */
import { domainToASCII } from "node:url";
import { Type } from "@sinclair/typebox";
import { isLongerThan, normalizeText } from "../../shared/characters.ts";
import { NullableText } from "../../shared/schemas.ts";
import { isAccountSlug, isProjectSlug } from "../../shared/slugs.ts";
import { type Problem, rejectProblems } from "../http/validation_problems.ts";

export const NAME_MAX_LENGTH = 200;
const ABOUT_MAX_LENGTH = 2000;
const WEBSITE_MAX_LENGTH = 2000;
/** Maximum length of an account's email address (users_email_check). */
export const EMAIL_MAX_LENGTH = 320;

/** Letters, digits, punctuation and symbols, except Hangul fillers, which are invisible letters. */
const VISIBLE = /[^\P{L}\u115F\u1160\u3164\uFFA0]|[\p{N}\p{P}\p{S}]/u;

/** Returns why a name is invalid, worded to follow the field's name; null if it is valid. */
export function nameProblem(text: string): string | null {
  if (text.trim() === "") return "must not be empty";
  return lengthProblem(text, NAME_MAX_LENGTH) ?? lineProblem(text) ?? visibleProblem(text);
}

/** Like `nameProblem`, for the name of an API key or a second factor. Reports a line break even in a blank name. */
export function labelProblem(text: string): string | null {
  return lineProblem(text) ?? nameProblem(text);
}

/** Like `nameProblem`, for the slug of a user or an organization. */
export function accountSlugProblem(text: string): string | null {
  if (isAccountSlug(text)) return null;
  return "must be 1 to 63 characters of a-z, 0-9, dot, underscore and hyphen, and start with a letter or digit";
}

/** Like `nameProblem`, for the slug of a project. */
export function projectSlugProblem(text: string): string | null {
  if (isProjectSlug(text)) return null;
  return "must be 1 to 60 characters of a-z and 0-9, with single hyphens between them, and not a UUID";
}

function visibleProblem(text: string): string | null {
  // The blank Braille pattern is an invisible symbol.
  return VISIBLE.test(text.replaceAll("\u2800", "")) ? null : "must have at least one visible character";
}

/** Like `nameProblem`, for a bio or a description. */
export function aboutProblem(text: string): string | null {
  return lengthProblem(text, ABOUT_MAX_LENGTH);
}

/** Like `nameProblem`, for a link. Schemes such as `javascript:` would run in the reader's browser. */
export function websiteProblem(text: string): string | null {
  // Checks the length first, because parsing a long host is slow.
  const tooLong = lengthProblem(text, WEBSITE_MAX_LENGTH);
  if (tooLong !== null) return tooLong;
  const { protocol } = URL.parse(text) ?? {};
  return protocol === "https:" || protocol === "http:" ? null : "must be an http or https URL";
}

/** Like `nameProblem`, for the email address of an existing account, which may predate the rules of `emailProblem`. */
export function knownEmailProblem(text: string): string | null {
  return EMAIL.test(text) ? lengthProblem(text, EMAIL_MAX_LENGTH) : NO_EMAIL;
}

/** Like `nameProblem`, for a new email address. Limits count spellings, so a mailbox has only one, except for case. */
export function emailProblem(text: string): string | null {
  // Checks the length first, because parsing a long domain is slow.
  if (isLongerThan(text, EMAIL_MAX_LENGTH)) return lengthProblem(text, EMAIL_MAX_LENGTH);
  const [, local = "", domain = ""] = EMAIL.exec(text) ?? [];
  const ascii = domainToASCII(domain);
  const isMalformed =
    ascii === "" ||
    domain.split(".").includes("") ||
    normalizeText(local, "NFKC") !== local ||
    QUOTED_OR_INVISIBLE.test(text);
  if (isMalformed) return NO_EMAIL;
  if (!/^[!-~]+$/.test(domain) || ascii !== domain.toLowerCase()) {
    return `must have its domain in ASCII, as in ${local}@${ascii}`;
  }
  return null;
}

const NO_EMAIL = "must be an email address";
const EMAIL = /^([^\s@]+)@([^\s@]+)$/;
/** Quotes, which allow a second spelling, characters that require quotes, and characters that mailers drop. */
const QUOTED_OR_INVISIBLE = /[()<>[\]:;,"\\\p{C}\p{Z}]/u;

/** Control characters including line feeds, line separators, and marks that change the text direction. */
const UNREADABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Like `nameProblem`, for a text that must be a single line and be displayed as stored. */
export function lineProblem(text: string): string | null {
  if (!text.isWellFormed()) return "must be well-formed Unicode text";
  const [found] = UNREADABLE.exec(text) ?? [];
  if (found === undefined) return null;
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return `must be one line without control characters; it contains U+${code}`;
}

function lengthProblem(text: string, max: number): string | null {
  if (text.includes("\0")) return "must not contain the character NUL";
  if (!text.isWellFormed()) return "must be well-formed Unicode text";
  return isLongerThan(text, max) ? `must have at most ${max} characters` : null;
}

const NAME = "At most 200 characters";
const orUnset = (description: string) => ({ ...NullableText, description: `${description}; null unsets it` });

/** Not nullable, because an organization always has a name. */
export const NameField = Type.String({ description: NAME });
export const NullableNameField = orUnset(NAME);
export const AboutField = orUnset("At most 2,000 characters");
export const WebsiteField = orUnset("An http or https URL");

/** Throws VALIDATION_ERROR with every field whose rule finds a problem. Null and omitted fields are valid. */
export function checkTexts(
  body: Readonly<Record<string, string | boolean | null | undefined>>,
  rules: Readonly<Record<string, (text: string) => string | null>>,
): void {
  const problems: Problem[] = [];
  for (const [path, problemOf] of Object.entries(rules)) {
    const value = body[path];
    const message = typeof value === "string" ? problemOf(value) : null;
    if (message) problems.push({ path, message });
  }
  rejectProblems(problems);
}
