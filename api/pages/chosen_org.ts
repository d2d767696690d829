/** The organization that the visitor of a page works in: chosen by a form, by an old link, or by a cookie. */
import type { Config } from "../../shared/process/config.ts";
import type { getMe } from "../accounts/me.ts";
import { readCookie, setCookie } from "../http/cookies.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { ResponseOf } from "./api_client.ts";

export type PageOrg = ResponseOf<typeof getMe>["data"]["organizations"][number];

/** Finds an organization among the caller's; null if they are not a member. */
export function findOwnOrg(
  { session }: { session: { organizations: readonly PageOrg[] } | null },
  slug: string,
): PageOrg | null {
  return session?.organizations.find((org) => org.slug === slug) ?? null;
}

const COOKIE = "ulr_org";
const YEAR_SECONDS = 365 * 86_400;

/** Returns the `Set-Cookie` of a choice. */
export function orgCookie({ slug }: PageOrg, { publicUrl }: Pick<Config, "publicUrl">): string {
  return setCookie(COOKIE, slug, { maxAgeSeconds: YEAR_SECONDS, publicUrl });
}

/** The `Set-Cookie` that forgets the choice, for a shared browser. */
export const CLEARED_ORG = setCookie(COOKIE, "", { maxAgeSeconds: 0 });

/** Returns the slug in the cookie, which may be anything. */
export function chosenSlug(headers: Headers): string | null {
  return readCookie(headers, COOKIE);
}

/** Chooses the organization of a request: a form names it in a field; `?org=`, which old links have, comes before the cookie. */
export function chooseOrg(
  organizations: readonly PageOrg[],
  { request, url, writes, body }: Pick<RequestContext, "request" | "url" | "writes" | "body">,
): PageOrg | null {
  const find = (slug: unknown) => organizations.find((org) => org.slug === slug) ?? null;
  const [field = null] = (body as Readonly<Record<string, readonly string[]>>)["org"] ?? [];
  const named = field ?? url.searchParams.get("org");
  const own = find(named);
  if (own || writes) return own;
  return (
    find(chosenSlug(request.headers)) ??
    organizations.find(({ isPersonal }) => !isPersonal) ??
    organizations[0] ??
    null
  );
}
