/** The page that a browser gets for an error: a wrong address, a refused form, a failure of the service. */
import type { ApiError } from "../../shared/errors.ts";
import { requestUrl } from "../../shared/network/request_url.ts";
import { PAGE_HEADERS } from "../http/response/security_headers.ts";
import { html } from "./html.ts";
import { renderPage } from "./layout.ts";
import { PAGE_POLICY } from "./page_policy.ts";

const HEADERS = {
  ...PAGE_HEADERS,
  "Content-Security-Policy": PAGE_POLICY,
  "Content-Type": "text/html; charset=utf-8",
  Vary: "Accept",
};

/** Paths for programs. They get JSON, whatever they accept. */
const PROGRAM_PATHS = /^\/(api\/v1|health|metrics|\.well-known)(\/|$)|^\/swagger\/json$/;

/** By status. These say nothing of the error: a page that the visitor may not see looks like one that does not exist. */
const TEXTS: Readonly<Record<number, { title: string; text: string }>> = {
  404: {
    title: "Page not found",
    text: "There is no page at this address. Check it for typing errors, or go to:",
  },
  500: {
    title: "Something went wrong",
    text: "The service failed to show this page. Try again. If it keeps happening, contact support with the request ID.",
  },
  503: {
    title: "Temporarily unavailable",
    text: "The service cannot show this page now. Try again in a minute.",
  },
};

const OTHER_TITLES: Readonly<Record<number, string>> = {
  402: "Subscription required",
  403: "Not allowed",
  413: "Too large",
  429: "Too many requests",
};

/** True for a browser that opens an address. Programs accept anything, or JSON. */
export function acceptsHtml(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/html") ?? false;
}

/**
 * Replaces an error response by a page if the request is a browser's. Pages of errors are the same for everyone and need
 * no database.
 */
export function toErrorPage(request: Request, response: Response, error: ApiError): Response {
  if (!acceptsHtml(request)) return response;
  const { pathname } = requestUrl(request) ?? { pathname: "" };
  if (PROGRAM_PATHS.test(pathname)) return response;
  const { status } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { title, text } = TEXTS[status] ?? {
    title: OTHER_TITLES[status] ?? "Invalid request",
    text: error.message,
  };
  const page = renderPage({
    title,
    section: null,
    address: pathname,
    main: renderMain(title, text, headers),
  });
  return new Response(page.text, { status, headers });
}

function renderMain(title: string, text: string, headers: Headers) {
  return html`<div class="card message">
  <h1>${title}</h1>
  <p>${text}</p>
  <p class="links"><a class="button primary" href="/">Start page</a> <a class="button" href="/dashboard/exports">Dashboard</a> <a class="button" href="/swagger">API documentation</a></p>
  <p><small>Request ID: ${headers.get("x-request-id")}</small></p>
</div>`;
}
