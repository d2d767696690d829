/** Slugs: names made easy to type. */

const MAX_LENGTH = 60;
/** How usernames and organization slugs look; the CHECK constraints of their tables say the same. */
const ACCOUNT_SLUG = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** True for text that can be a username or the slug of an organization. */
export function isAccountSlug(text: string): boolean {
  return ACCOUNT_SLUG.test(text);
}

/** `Café Menu (v2)` → `cafe-menu-v2`; a name without any letter or digit of ASCII becomes `project`. */
export function toSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  return slug || "project";
}

/** `menu`, `menu-2`, `menu-3` …: what to try when a slug is taken. */
export function* slugCandidates(name: string): Generator<string> {
  const slug = toSlug(name);
  yield slug;
  for (let n = 2; ; n++) yield `${slug}-${n}`;
}
