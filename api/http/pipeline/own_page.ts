/** Decides whether a browser's request comes from a page of this service, by headers that scripts cannot change. */

/**
 * Each of `Origin` and `Sec-Fetch-Site` must be ours if it is sent, and at least one must be sent. Our origin is that
 * of PUBLIC_URL and, if that is plain http, also the `Host` header's: with TLS, the latter would admit pages that the
 * same host served without TLS.
 */
export function isOwnPage({ headers, url }: Request, publicUrl: string): boolean {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin === null && site === null) return false;
  const isPlain = publicUrl.startsWith("http:");
  const isOwnOrigin =
    origin === null ||
    origin === URL.parse(publicUrl)?.origin ||
    (isPlain && origin === URL.parse(url)?.origin);
  return isOwnOrigin && (site === null || site === "same-origin");
}

/** Returns true if the headers say that a page sends the request. Programs other than browsers do not send them. */
export function comesFromPage({ headers }: Request): boolean {
  return headers.has("origin") || headers.has("sec-fetch-site");
}
