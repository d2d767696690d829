/** The page that a browser gets for an error: a wrong address, a refused form, a failure of the service. */
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

/** Paths for programs. They get JSON, whatever they accept. */
const PROGRAM_PATHS = /^\/(api\/v1|health|metrics|\.well-known)(\/|$)|^\/swagger\/json$/;

/** Texts by status. They do not describe the error: a page that the visitor may not see looks like one that does not exist. */
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

/** Shown if a form is about something that is gone or that the visitor may not see; a second click also leads here. */
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

/** True for a browser that opens an address. Programs accept anything, or JSON. */
export function acceptsHtml(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/html") ?? false;
}

/** True for a browser at an address that is not one of programs. */
export function isForPeople(request: Request): boolean {
  const { pathname } = requestUrl(request) ?? { pathname: "" };
  return acceptsHtml(request) && !PROGRAM_PATHS.test(pathname);
}

/** Links to what the visitor may have meant. Only the address and the public catalog decide, so they reveal nothing. */
function renderSuggestions({ details = {} }: ApiError): Content {
  const { reason, suggestions, name } = details;
  const modelPathOf = (model: string) => modelPath(parseModelName(model));
  const meant = didYouMean(Array.isArray(suggestions) ? suggestions : [], modelPathOf);
  if (meant) return html`<p>${meant}</p>`;
  if (typeof name !== "string" || reason === undefined) return null;
  return html`<p><a href="${withQuery("/definitions", { search: name })}">Search definitions for “${name}”</a></p>`;
}

/**
 * Replaces an error response by a page if the request is a browser's. The page shows who is signed in, unless the service
 * has failed: then it needs no database.
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
    // The page of an unknown address is the same at all of them.
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
