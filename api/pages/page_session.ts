/** Who is signed in on a page, and the organization they work in. */
import type { Config } from "../../shared/process/config.ts";
import type { getMe } from "../accounts/me.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { ResponseOf } from "./api_client.ts";
import { pageCookie, readCookie } from "./cookies.ts";

type Me = ResponseOf<typeof getMe>["data"];

export type PageOrg = Me["organizations"][number];

export interface PageSession {
  user: Me["user"];
  organizations: readonly PageOrg[];
  /**
   * The chosen organization; without a choice, the first that is not personal. A form has the one it was rendered for, not
   * what was chosen in another tab meanwhile. Null without one that the caller is a member of.
   */
  org: PageOrg | null;
  /** Goes into the hidden field `form_token` of every form. */
  formToken: string;
}

/** Finds an organization among the caller's; null if they are not a member. */
export function findOwnOrg(
  { session }: { session: Pick<PageSession, "organizations"> | null },
  slug: string,
): PageOrg | null {
  return session?.organizations.find((org) => org.slug === slug) ?? null;
}

const COOKIE = "ulr_org";
const YEAR_SECONDS = 365 * 86_400;

/** Returns the `Set-Cookie` of a choice. */
export function orgCookie({ slug }: PageOrg, { publicUrl }: Pick<Config, "publicUrl">): string {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${pageCookie(COOKIE, slug, YEAR_SECONDS)}${secure}`;
}

/** The `Set-Cookie` that forgets the choice, for a shared browser. */
export const CLEARED_ORG = pageCookie(COOKIE, "", 0);

/** Returns the slug in the cookie, which may be anything. */
export function chosenSlug(headers: Headers): string | null {
  return readCookie(headers, COOKIE);
}

/** Finds the organization of a request: a form names it in a field; `?org=`, which old links have, comes before the cookie. */
export function findOrg(
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
