/**
 * The session of a page: who is signed in, for which organization, and where a page leads when the session has ended. A cookie
 * whose session is over was deleted before, and its visitor is anonymous (http/pipeline/rate_limits.ts).
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
   * The chosen organization; without a choice, the first that is not personal. A form has the one it was rendered for, not
   * what was chosen in another tab meanwhile. Null if the caller is not a member of it, or has no organization.
   */
  org: PageOrg | null;
  /** Goes into the hidden field `form_token` of every form. */
  formToken: string;
}

/**
 * Returns the session of a page's request; null for anonymous visitors, and if it ended after the request was authenticated.
 */
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

/** The parameter with which the sign-in page says that the session has expired. */
export const SESSION_ENDED = "ended";

/** Returns the sign-in page, which leads back. A form had a session, so it has expired, and the page says so. */
export function sessionEndedPath({ pathname, search }: URL, method: "GET" | "POST"): string {
  const path = signInPath(pathname + search);
  if (method === "GET") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${SESSION_ENDED}`;
}

/** Returns the fields of a POST; empty otherwise. */
export function formOf({ body }: Pick<RequestContext, "body">): URLSearchParams {
  return body["form"] instanceof URLSearchParams ? body["form"] : new URLSearchParams();
}

/**
 * Derives the token in every form of a session; null without one. A form that another site sends, or that another session was
 * given, has none or a wrong one.
 */
function formTokenOf({ caller, request }: RequestContext, config: Pick<Config, "publicUrl">): string | null {
  const [token] = caller ? readSessionTokens(request.headers, config) : [];
  return token === undefined ? null : createHmac("sha256", token).update("form token").digest("base64url");
}

/** Throws FORBIDDEN_ORIGIN unless the form has the session's token. Without a session, there is nothing to misuse. */
export function requireFormToken(context: RequestContext, config: Pick<Config, "publicUrl">): void {
  const expected = formTokenOf(context, config);
  if (expected === null) return;
  const given = Buffer.from(formOf(context).get("form_token") ?? "");
  const wanted = Buffer.from(expected);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new ApiError("FORBIDDEN_ORIGIN", { message: TEXTS.FORBIDDEN_ORIGIN.form });
}

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

/**
 * Chooses the organization of a request: a form names it in a field; `?org=`, which old links have, comes before the cookie.
 */
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
