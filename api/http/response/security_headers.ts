/** Headers that tell browsers what not to do: on every response, and on every page. */

/** A response that is no page loads nothing, and nothing shows it in a frame. */
const NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** Two years, in seconds. Without includeSubDomains: the other hosts of the domain are not ours. */
const HSTS_MAX_AGE = 63_072_000;

/** Puts the headers that every response has on one. */
export type AddSecurityHeaders = (headers: Headers) => void;

/** Where PUBLIC_URL is https, browsers are told to use nothing else. */
export function createSecurityHeaders({ publicUrl }: { publicUrl: string }): AddSecurityHeaders {
  const isHttps = publicUrl.startsWith("https:");
  return (headers) => {
    headers.set("X-Content-Type-Options", "nosniff");
    if (!headers.has("content-security-policy")) headers.set("Content-Security-Policy", NO_PAGE_POLICY);
    if (isHttps) headers.set("Strict-Transport-Security", `max-age=${HSTS_MAX_AGE}`);
  };
}

/** What a file that pages load has: other sites cannot embed it. */
export const ASSET_HEADERS = { "Cross-Origin-Resource-Policy": "same-origin" } as const;

/** What a page has, besides a Content-Security-Policy of its own. */
export const PAGE_HEADERS = {
  ...ASSET_HEADERS,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Referrer-Policy": "same-origin",
} as const;
