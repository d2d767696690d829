/** The profile of a user or an organization: limits, fields of a body, and why a value is refused. */
import { domainToASCII } from "node:url";
import { Type } from "@sinclair/typebox";
import { isLongerThan, normalizeText } from "../../shared/characters.ts";
import { NullableText } from "../../shared/schemas.ts";
import { isAccountSlug, isProjectSlug } from "../../shared/slugs.ts";
import { type Problem, rejectProblems } from "../http/validation_problems.ts";

export const NAME_MAX_LENGTH = 200;
const ABOUT_MAX_LENGTH = 2000;
const WEBSITE_MAX_LENGTH = 2000;
/** The longest address an account can have (users_email_check). */
export const EMAIL_MAX_LENGTH = 320;

/** Letters, digits, punctuation and symbols; Hangul's fillers count as letters and show nothing. */
const VISIBLE = /[^\P{L}\u115F\u1160\u3164\uFFA0]|[\p{N}\p{P}\p{S}]/u;

/** Why a text cannot be a name, to follow the field in a sentence; `null` when it can. */
export function nameProblem(text: string): string | null {
  if (text.trim() === "") return "must not be empty";
  return lengthProblem(text, NAME_MAX_LENGTH) ?? lineProblem(text) ?? visibleProblem(text);
}

/** The same for the name of an API key or a second factor. A line break is reported even if there is nothing else. */
export function labelProblem(text: string): string | null {
  return lineProblem(text) ?? nameProblem(text);
}

/** The same for the slug of a user or an organization. */
export function accountSlugProblem(text: string): string | null {
  if (isAccountSlug(text)) return null;
  return "must be 1 to 63 characters of a-z, 0-9, dot, underscore and hyphen, and start with a letter or digit";
}

/** The same for the slug of a project. */
export function projectSlugProblem(text: string): string | null {
  if (isProjectSlug(text)) return null;
  return "must be 1 to 60 characters of a-z and 0-9, with single hyphens between them, and not a UUID";
}

function visibleProblem(text: string): string | null {
  // The blank Braille pattern is a symbol but invisible.
  return VISIBLE.test(text.replaceAll("\u2800", "")) ? null : "must have at least one visible character";
}

/** The same for a bio or a description. */
export function aboutProblem(text: string): string | null {
  return lengthProblem(text, ABOUT_MAX_LENGTH);
}

/** The same for a link: schemes other than http and https would run in the browser of the person who follows it. */
export function websiteProblem(text: string): string | null {
  // Parsing a long host takes long.
  const tooLong = lengthProblem(text, WEBSITE_MAX_LENGTH);
  if (tooLong !== null) return tooLong;
  const { protocol } = URL.parse(text) ?? {};
  return protocol === "https:" || protocol === "http:" ? null : "must be an http or https URL";
}

/** The same for the email address of an account, which may be older than the rules of `emailProblem`. */
export function knownEmailProblem(text: string): string | null {
  return EMAIL.test(text) ? lengthProblem(text, EMAIL_MAX_LENGTH) : NO_EMAIL;
}

/** The same for another email address. A mailbox has one spelling except for case, because limits count spellings. */
export function emailProblem(text: string): string | null {
  // Looking at a long domain takes long, too.
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
/** Characters that an address can only have in quotes, which are optional around others, and those that mailers drop. */
const QUOTED_OR_INVISIBLE = /[()<>[\]:;,"\\\p{C}\p{Z}]/u;

/** Control characters (line feeds too), line separators, and marks that turn the reading direction. */
const UNREADABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Why a text is not one line that is shown as it is stored; `null` when it is. */
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

/** An organization always has a name. */
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
