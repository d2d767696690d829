/** Slugs of users, organizations and projects. */
import { normalizeText } from "./characters.ts";
import { isUuid } from "./uuid.ts";

const MAX_LENGTH = 60;
/** The pattern of usernames and organization slugs, as in the CHECK constraints of their tables. */
const ACCOUNT_SLUG = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Returns true for a valid username or organization slug. */
export function isAccountSlug(text: string): boolean {
  return ACCOUNT_SLUG.test(text);
}

/** Returns true for a slug that a person may choose for a project. A UUID would be read as the id of one. */
export function isProjectSlug(text: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= MAX_LENGTH && !isUuid(text);
}

/** `Café Menu (v2)` → `cafe-menu-v2`; a UUID, and a name without any letter or digit of ASCII, becomes `project`. */
export function toSlug(name: string): string {
  const slug = normalizeText(name, "NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  return slug === "" || isUuid(slug) ? "project" : slug;
}

/** `menu`, `menu-2`, `menu-3` …: alternatives for a slug that is taken. */
export function* slugCandidates(name: string): Generator<string> {
  const slug = toSlug(name);
  yield slug;
  for (let n = 2; ; n++) {
    const ending = `-${n}`;
    yield slug.slice(0, MAX_LENGTH - ending.length).replace(/-$/, "") + ending;
  }
}
