/** The page that a browser gets for an error: an unknown address, a rejected form, or a failure of the service. */
import type { ApiError } from "../../shared/errors.ts";
import { parseModelName } from "../../shared/models/model_name.ts";
import { requestUrl } from "../../shared/network/request_url.ts";
import type { Config } from "../../shared/process/config.ts";
import { bytesResponse } from "../http/bytes_response.ts";
import type { RequestContext } from "../http/request_context.ts";
import { modelPath, withQuery } from "./addresses.ts";
import { explainError } from "./explain_error.ts";
import { type Content, html } from "./html.ts";
import { renderPage } from "./layout.ts";
import { HTML_HEADERS } from "./page.ts";
import { findSession } from "./page_session.ts";
import { didYouMean } from "./parts.ts";

/** Paths for programs. Their errors are JSON, whatever the request accepts. */
const PROGRAM_PATHS = /^\/(api\/v1|health|metrics|\.well-known)(\/|$)|^\/swagger\/json$/;

/** Texts by status. They do not describe the error, because a page that the visitor may not see must look like a missing page. */
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

/** Shown if the subject of a form is missing or hidden from the visitor. A second click on the button can cause this too. */
const GONE = {
  title: "No longer there",
  text: "What this form is about does not exist. It may already have been removed, perhaps by your first click. Go to:",
};

const OTHER_TITLES: Readonly<Record<number, string>> = {
  402: "Subscription required",
  403: "Not allowed",
  413: "Too large",
  429: "Too many requests",
};

/** Returns whether a browser opens an address. Programs accept JSON or any type. */
export function acceptsHtml(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/html") ?? false;
}

/** Returns whether a browser opens an address that is not for programs. */
export function isForPeople(request: Request): boolean {
  const { pathname } = requestUrl(request) ?? { pathname: "" };
  return acceptsHtml(request) && !PROGRAM_PATHS.test(pathname);
}

/** Renders links to similar pages. The links depend only on the address and the public catalog, so they reveal no private data. */
function renderSuggestions({ details = {} }: ApiError): Content {
  const { reason, suggestions, name } = details;
  const modelPathOf = (model: string) => modelPath(parseModelName(model));
  const meant = didYouMean(Array.isArray(suggestions) ? suggestions : [], modelPathOf);
  if (meant) return html`<p>${meant}</p>`;
  if (typeof name !== "string" || reason === undefined) return null;
  return html`<p><a href="${withQuery("/definitions", { search: name })}">Search definitions for “${name}”</a></p>`;
}

/**
 * Replaces an error response with a page if a browser sent the request. The page shows the signed-in user, except after a
 * failure of the service, when it must not need the database.
 */
export async function toErrorPage(
  response: Response,
  context: RequestContext,
  config: Pick<Config, "publicUrl">,
): Promise<Response> {
  const { error, request } = context;
  if (!error || !isForPeople(request)) return response;
  const { status } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HTML_HEADERS)) headers.set(name, value);
  const session = status < 500 ? await findSession(context, config).catch(() => null) : null;
  const isGone = status === 404 && request.method === "POST";
  const { title, text } = (isGone ? GONE : TEXTS[status]) ?? {
    title: OTHER_TITLES[status] ?? "Request not accepted",
    text: explainError(error),
  };
  const needsFactor = error.code === "SECOND_FACTOR_REQUIRED";
  const page = renderPage({
    title,
    section: null,
    // The 404 page is the same for all addresses.
    address: status === 404 ? "/" : context.url.pathname,
    main: html`<div class="card message">
  <h1>${title}</h1>
  ${renderSuggestions(error)}
  <p>${text}</p>
  ${needsFactor && html`<p><a class="button primary" href="/settings/second-factor">Your second factors</a></p>`}
  <p class="actions"><a class="button${!needsFactor && " primary"}" href="/">Start page</a> <a class="button" href="/dashboard/exports">Dashboard</a> <a class="button" href="/swagger">API documentation</a></p>
  <p><small>Request ID: ${headers.get("x-request-id")}</small></p>
</div>`,
    ...(session && { session }),
  });
  return bytesResponse(page.text, { status, headers });
}
