/** Security headers of responses and pages. */

/** The policy of all responses except pages: they load nothing and cannot be framed. */
const NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** Two years, in seconds. It excludes subdomains, because other hosts of the domain are not ours. */
const HSTS_MAX_AGE = 63_072_000;

/** Adds the security headers of every response. Adds HSTS only if PUBLIC_URL is https. */
export function addSecurityHeaders(headers: Headers, publicUrl: string): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("content-security-policy")) headers.set("Content-Security-Policy", NO_PAGE_POLICY);
  if (publicUrl.startsWith("https:")) {
    headers.set("Strict-Transport-Security", `max-age=${HSTS_MAX_AGE}`);
  }
}

/** Headers of files that pages load. Other sites cannot embed the files. */
export const ASSET_HEADERS = { "Cross-Origin-Resource-Policy": "same-origin" } as const;

/** Headers of a page. Its Content-Security-Policy is set separately: PAGE_POLICY, or the policy of Swagger UI. */
export const PAGE_HEADERS = {
  ...ASSET_HEADERS,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Referrer-Policy": "same-origin",
} as const;

/** Content-Security-Policy of our pages: only files and responses of this origin, nothing inline, no framing. */
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
