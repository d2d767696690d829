/**
 * The session of a page: the user, the chosen organization, and the redirect after the session has ended. The cookie of an
 * ended session has already been cleared, so its visitor is anonymous (http/pipeline/rate_limits.ts).
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import { getMe } from "../accounts/me.ts";
import { readCookie, setCookie } from "../http/cookies.ts";
import type { RequestContext } from "../http/request_context.ts";
import { readSessionTokens } from "../http/session_cookie.ts";
import { signInPath } from "./addresses.ts";
import { createApiClient, type ResponseOf } from "./api_client.ts";

export interface PageSession {
  user: ResponseOf<typeof getMe>["data"]["user"];
  organizations: readonly PageOrg[];
  /**
   * The chosen organization. The default is the first one that is not personal. A form uses the organization for which it was
   * rendered, even if another tab has changed the choice. Null if the user is not a member of the chosen organization or has no
   * organization.
   */
  org: PageOrg | null;
  /** The value of the hidden field `form_token` in every form. */
  formToken: string;
}

/** Returns the session of a page's request; null for anonymous visitors or if the session ended after authentication. */
export async function findSession(
  context: RequestContext,
  config: Pick<Config, "publicUrl">,
): Promise<PageSession | null> {
  const { callApi } = context;
  const formToken = formTokenOf(context, config);
  if (!callApi || formToken === null) return null;
  try {
    const { data } = await createApiClient(callApi).call(getMe);
    const { user, organizations } = data;
    return { user, organizations, org: chooseOrg(organizations, context), formToken };
  } catch (error) {
    if (error instanceof ApiError && error.code === "UNAUTHORIZED") return null;
    throw error;
  }
}

/** The query parameter that makes the sign-in page say that the session has expired. */
export const SESSION_ENDED = "ended";

/** Returns the path of the sign-in page, which redirects back. After a POST, that page says that the session has expired. */
export function sessionEndedPath({ pathname, search }: URL, method: "GET" | "POST"): string {
  const path = signInPath(pathname + search);
  if (method === "GET") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${SESSION_ENDED}`;
}

/** Returns the form fields of a POST; empty for other requests. */
export function formOf({ body }: Pick<RequestContext, "body">): URLSearchParams {
  return body["form"] instanceof URLSearchParams ? body["form"] : new URLSearchParams();
}

/** Derives the form token of a session; null without a session. Forms from another site or another session have no valid token. */
function formTokenOf({ caller, request }: RequestContext, config: Pick<Config, "publicUrl">): string | null {
  const [token] = caller ? readSessionTokens(request.headers, config) : [];
  return token === undefined ? null : createHmac("sha256", token).update("form token").digest("base64url");
}

/** Throws FORBIDDEN_ORIGIN unless the form has the session's token. A request without a session needs no protection. */
export function requireFormToken(context: RequestContext, config: Pick<Config, "publicUrl">): void {
  const expected = formTokenOf(context, config);
  if (expected === null) return;
  const given = Buffer.from(formOf(context).get("form_token") ?? "");
  const wanted = Buffer.from(expected);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new ApiError("FORBIDDEN_ORIGIN", { message: TEXTS.FORBIDDEN_ORIGIN.form });
}

export type PageOrg = ResponseOf<typeof getMe>["data"]["organizations"][number];

/** Finds an organization by slug among the user's organizations; null if the user is not a member. */
export function findOwnOrg(
  { session }: { session: { organizations: readonly PageOrg[] } | null },
  slug: string,
): PageOrg | null {
  return session?.organizations.find((org) => org.slug === slug) ?? null;
}

const COOKIE = "ulr_org";
const YEAR_SECONDS = 365 * 86_400;

/** Returns the `Set-Cookie` header that stores the chosen organization. */
export function orgCookie({ slug }: PageOrg, { publicUrl }: Pick<Config, "publicUrl">): string {
  return setCookie(COOKIE, slug, { maxAgeSeconds: YEAR_SECONDS, publicUrl });
}

/** The `Set-Cookie` header that deletes the choice, for a shared browser. */
export const CLEARED_ORG = setCookie(COOKIE, "", { maxAgeSeconds: 0 });

/** Returns the slug in the cookie, which is untrusted. */
export function chosenSlug(headers: Headers): string | null {
  return readCookie(headers, COOKIE);
}

/** Chooses the organization of a request: first by the form's field, then by `?org=` in old links, then by the cookie. */
function chooseOrg(
  organizations: readonly PageOrg[],
  { request, url, writes, body }: Pick<RequestContext, "request" | "url" | "writes" | "body">,
): PageOrg | null {
  const find = (slug: string | null) => organizations.find((org) => org.slug === slug) ?? null;
  const own = find(formOf({ body }).get("org") ?? url.searchParams.get("org"));
  if (own || writes) return own;
  return (
    find(chosenSlug(request.headers)) ??
    organizations.find(({ isPersonal }) => !isPersonal) ??
    organizations[0] ??
    null
  );
}
