/** Serves pages: sessions, API calls, forms and headers. A page is a client of our own API. */
import { createHash } from "node:crypto";
import type { Config } from "../../shared/process/config.ts";
import type { Documents } from "../documents/documents.ts";
import { bytesResponse } from "../http/bytes_response.ts";
import { requestContext } from "../http/request_context.ts";
import { isKnownTag } from "../http/response/content_encoding.ts";
import { PAGE_HEADERS, PAGE_POLICY } from "../http/response/security_headers.ts";
import type { Route, RouteOptions } from "../http/route.ts";
import { changed, orgPath, withQuery } from "./addresses.ts";
import { type ApiClient, createApiClient } from "./api_client.ts";
import { attempt, type FormProblems } from "./forms.ts";
import { type PageContent, renderPage } from "./layout.ts";
import { CLEARED_NOTICE, type Notice, noticeCookie, readNotice, type Warnings } from "./notice.ts";
import {
  chosenSlug,
  findSession,
  formOf,
  orgCookie,
  type PageOrg,
  type PageSession,
  requireFormToken,
  sessionEndedPath,
} from "./page_session.ts";

/** A page's request and its context. */
export interface Page extends ApiClient {
  request: Request;
  /** The request's address. Its query is unchecked, because the API checks the values that the page passes on. */
  url: URL;
  /** The session; null for anonymous visitors. */
  session: PageSession | null;
  /** The notice from the previous form; null without a session. */
  notice: Notice | null;
  /** The fields of a POST, whose origin and token have been checked. Empty for a GET. */
  form: URLSearchParams;
  /** The API's problems with the form, if the page is shown again after an error. */
  problems: FormProblems | null;
  deps: PageDeps;
}

export interface PageDeps {
  config: Pick<Config, "publicUrl" | "signUp" | "signUpDomains" | "supportContact" | "organizationCreation">;
  documents: Documents;
  /** Returns the slugs of organizations by id, for API responses with only the id. Slugs are public. */
  listOrgSlugs(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export type SignedInPage = Page & { session: PageSession };

/** The result of a page's handler: the page, or another response such as a redirect. */
export type PageResult = PageContent | Response;

/** A page's handler. `params` are the path parameters. */
type View<P extends Page> = (page: P, params: never) => Promise<PageResult> | PageResult;

export interface PageRouteOptions extends Pick<RouteOptions, "ignoresCookie"> {
  /** The maximum size of a form. The default is enough for some texts, but not for a document. */
  maxFormBytes?: number;
}

/** The views of a page with a form. `show` renders the page, and `submit` processes the form. */
export type FormViews<P extends Page> = readonly [show: View<P>, submit: View<P>];

/**
 * A row of a table of pages. A "signedIn" page redirects visitors without a session to the sign-in page. A "FORM" row has a GET
 * view and a POST view. If the API rejects the form, the page is shown again with `problems`.
 */
export type PageRoute =
  | readonly [method: "GET" | "POST", path: string, "all", View<Page>, PageRouteOptions?]
  | readonly [method: "GET" | "POST", path: string, "signedIn", View<SignedInPage>, PageRouteOptions?]
  | readonly [method: "FORM", path: string, "all", FormViews<Page>, PageRouteOptions?]
  | readonly [method: "FORM", path: string, "signedIn", FormViews<SignedInPage>, PageRouteOptions?];

/** A view with untyped path parameters. The row's type has already checked the type of the page. */
type AnyView = (page: Page, params: Readonly<Record<string, string>>) => Promise<PageResult> | PageResult;

/** The headers of every page, including error pages. */
export const HTML_HEADERS = {
  ...PAGE_HEADERS,
  "Content-Security-Policy": PAGE_POLICY,
  "Content-Type": "text/html; charset=utf-8",
  Vary: "Cookie, Accept",
};

const FORM_MAX_BYTES = 64 * 1024;

/** Returns the routes of a row. */
export function toPageRoutes(row: PageRoute, deps: PageDeps): Route[] {
  const [method, , , view] = row;
  if (method !== "FORM") return [toPageRoute(row, { method, view: view as AnyView }, deps)];
  const [show, submit] = view as readonly [AnyView, AnyView];
  return [
    toPageRoute(row, { method: "GET", view: show }, deps),
    toPageRoute(row, { method: "POST", view: orShowAgain(submit, show) }, deps),
  ];
}

/** Returns the POST view of a form, which shows the page again if the API rejects the form. */
function orShowAgain(submit: AnyView, show: AnyView): AnyView {
  return async (page, params) => {
    const outcome = await attempt(async () => submit(page, params));
    if (outcome.ok) return outcome.value;
    const { problems } = outcome;
    const shown = await show({ ...page, problems }, params);
    if (shown instanceof Response) return shown;
    return { ...shown, title: `Error: ${shown.title}`, status: problems.status };
  };
}

/**
 * Returns the route of a page. It authenticates by session cookie only, and accepts only forms of our own pages. It reads data
 * only through the API.
 */
function toPageRoute(
  [, pattern, visitors, , options = {}]: PageRoute,
  { method, view }: { method: "GET" | "POST"; view: AnyView },
  deps: PageDeps,
): Route {
  const { maxFormBytes = FORM_MAX_BYTES, ...others } = options;
  return {
    method,
    pattern,
    ...others,
    access: "public",
    isPage: true,
    maxBodyBytes: maxFormBytes,
    writes: method === "POST",
    checkBody: null,
    async respond(request, params) {
      const page = await openPage(request, deps);
      const { session } = page;
      if (visitors === "signedIn" && !session) return seeOther(sessionEndedPath(page.url, method));
      const named = method === "GET" ? page.url.searchParams.get("org") : null;
      if (session?.org && session.org.slug === named)
        return seeOther(addressIn(session.org, page.url), {
          "Set-Cookie": orgCookie(session.org, deps.config),
        });
      const result = await view(page, params);
      return result instanceof Response ? result : respondPage(page, result);
    },
  };
}

/** Returns the address without `?org=`. On another organization's page, returns the same page of the chosen organization. */
function addressIn({ slug }: PageOrg, { pathname, searchParams }: URL): string {
  const [, first, shown, tab] = pathname.split("/");
  if (first !== "orgs" || shown === slug) return withQuery(pathname, changed(searchParams, { org: null }));
  return orgPath(slug, ...(tab ? [tab] : []));
}

/** Redirects to a page after a form submission, or to the sign-in page. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...headers, Location: location, "Cache-Control": "no-store" },
  });
}

/** Like `seeOther`, with a notice that the next page shows once. */
export function seeOtherWith(location: string, done: string, warnings: Warnings = []): Response {
  return seeOther(location, { "Set-Cookie": noticeCookie(location, done, warnings) });
}

async function openPage(request: Request, deps: PageDeps): Promise<Page> {
  const context = requestContext(request);
  const { callApi } = context;
  if (!callApi) throw new Error(`Cannot show ${context.route}: it is not a route of pages`);
  if (context.writes) requireFormToken(context, deps.config);
  const url = new URL(request.url);
  const session = await findSession(context, deps.config);
  const notice = session && request.method === "GET" ? readNotice(request.headers, url.pathname) : null;
  const form = formOf(context);
  return { request, url, session, notice, form, problems: null, ...createApiClient(callApi), deps };
}

/**
 * Sends a page. Caches may store anonymous pages but must revalidate them. Links in mails have a secret in their query, which
 * `?next=` repeats. A page with a secret is not cached, and its address is never sent as a referrer.
 */
function respondPage({ request, url, session, notice, deps }: Page, content: PageContent): Response {
  const { status = 200, org } = content;
  const shown = content.hidesAccount ? {} : { session };
  // Encoded once for both the ETag and the response.
  const body = Buffer.from(renderPage({ ...content, ...shown, address: url.pathname + url.search }).text);
  const { caller, responseHeaders } = requestContext(request);
  const isOwn = caller !== null || responseHeaders["Set-Cookie"] !== undefined;
  const hasSecret = /token/i.test(url.search);
  if (isOwn || hasSecret || status !== 200 || request.method !== "GET") {
    const headers = new Headers({ ...HTML_HEADERS, "Cache-Control": "private, no-store" });
    // With `no-referrer`, browsers would send forms without their origin.
    if (hasSecret) headers.set("Referrer-Policy", "strict-origin");
    if (notice) headers.append("Set-Cookie", CLEARED_NOTICE);
    if (org && org.slug !== chosenSlug(request.headers))
      headers.append("Set-Cookie", orgCookie(org, deps.config));
    return bytesResponse(body, { status, headers });
  }
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 32)}"`;
  const headers = { ...HTML_HEADERS, ETag: etag, "Cache-Control": "public, max-age=0, must-revalidate" };
  if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers });
  return bytesResponse(body, { headers });
}
