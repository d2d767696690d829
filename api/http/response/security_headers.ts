/** Security headers of responses and pages. */

/** Responses other than pages load nothing and cannot be framed. */
const NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** Two years, in seconds. Without includeSubDomains: the other hosts of the domain are not ours. */
const HSTS_MAX_AGE = 63_072_000;

/** Sets the headers of every response, with HSTS if PUBLIC_URL is https. */
export function addSecurityHeaders(headers: Headers, publicUrl: string): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("content-security-policy")) headers.set("Content-Security-Policy", NO_PAGE_POLICY);
  if (publicUrl.startsWith("https:")) {
    headers.set("Strict-Transport-Security", `max-age=${HSTS_MAX_AGE}`);
  }
}

/** For files that pages load: other sites cannot embed them. */
export const ASSET_HEADERS = { "Cross-Origin-Resource-Policy": "same-origin" } as const;

/** What a page has besides its Content-Security-Policy: PAGE_POLICY, or that of Swagger UI. */
export const PAGE_HEADERS = {
  ...ASSET_HEADERS,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Referrer-Policy": "same-origin",
} as const;

/** The policy of our pages: only files and responses of this origin, nothing inline, no framing. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
