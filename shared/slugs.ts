/** Validates and creates slugs of users, organizations and projects. */
import { normalizeText } from "./characters.ts";
import { isUuid } from "./uuid.ts";

const MAX_LENGTH = 60;
/** The pattern of usernames and organization slugs, as in the CHECK constraints of their tables. */
const ACCOUNT_SLUG = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Returns true for a valid username or organization slug. */
export function isAccountSlug(text: string): boolean {
  return ACCOUNT_SLUG.test(text);
}

/**
 * Returns true for a slug that a user may choose for a project. A UUID is not allowed, because it would be read as a
 * project's id.
 */
export function isProjectSlug(text: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= MAX_LENGTH && !isUuid(text);
}

/**
 * Converts a name to a slug: `Café Menu (v2)` becomes `cafe-menu-v2`. A UUID, or a name without any ASCII letter or digit,
 * becomes `project`.
 */
export function toSlug(name: string): string {
  const slug = normalizeText(name, "NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  return slug === "" || isUuid(slug) ? "project" : slug;
}

/** Yields the slug of a name, then alternatives for a slug that is taken: `menu`, `menu-2`, `menu-3` … */
export function* slugCandidates(name: string): Generator<string> {
  const slug = toSlug(name);
  yield slug;
  for (let n = 2; ; n++) {
    const ending = `-${n}`;
    yield slug.slice(0, MAX_LENGTH - ending.length).replace(/-$/, "") + ending;
  }
}
