/** The page that a browser gets for an error: a wrong address, or a failure of the service. */
import { readFileSync } from "node:fs";
import { PAGE_HEADERS } from "../http/response/security_headers.ts";
import { PAGE_POLICY } from "./page_policy.ts";

/** Only the stylesheet and the icon are loaded: the page works without scripts. */
const HEADERS = {
  ...PAGE_HEADERS,
  "Content-Security-Policy": PAGE_POLICY,
  "Content-Type": "text/html; charset=utf-8",
  Vary: "Accept",
};

/** Paths for programs. They get JSON, whatever they accept. */
const PROGRAM_PATHS = /^\/(api\/v1|health|metrics|\.well-known)(\/|$)|^\/swagger\/json$/;

/** By status. Other errors of pages stay JSON: links and typed addresses do not lead to them. */
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

/** True for a browser that opens an address. Programs accept anything, or JSON. */
export function acceptsHtml(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/html") ?? false;
}

/** Returns a function that replaces an error response by a page if the request is a browser's. */
export function createToErrorPage() {
  const template = readFileSync(new URL("./assets/error.html", import.meta.url), "utf8");
  return (request: Request, response: Response): Response => {
    const texts = TEXTS[response.status];
    if (!texts || !["GET", "HEAD"].includes(request.method) || !acceptsHtml(request)) return response;
    if (PROGRAM_PATHS.test(URL.parse(request.url)?.pathname ?? "")) return response;
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
    // The id has no character with a meaning in HTML: the request pipeline accepts no other.
    const values: Record<string, string> = { ...texts, requestId: headers.get("x-request-id") ?? "" };
    const page = template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
    return new Response(page, { status: response.status, headers });
  };
}
