/** Decides whether a browser's request comes from a page of this service. */

/** Checks headers that browsers set and scripts cannot change. */
export type IsOwnPage = (request: Request) => boolean;

/**
 * Each of `Origin` and `Sec-Fetch-Site` must be ours if it is sent, and at least one must be sent. Our origin is that
 * of PUBLIC_URL and, if that is plain http, also the `Host` header's: with TLS, the latter would admit pages that the
 * same host served without TLS.
 */
export function createIsOwnPage(publicUrl: string): IsOwnPage {
  const publicOrigin = URL.parse(publicUrl)?.origin;
  const isPlain = publicUrl.startsWith("http:");
  return ({ headers, url }) => {
    const origin = headers.get("origin");
    const site = headers.get("sec-fetch-site");
    if (origin === null && site === null) return false;
    const isOwnOrigin =
      origin === null || origin === publicOrigin || (isPlain && origin === URL.parse(url)?.origin);
    return isOwnOrigin && (site === null || site === "same-origin");
  };
}

/** Returns true if the headers say that a page sends the request. Programs other than browsers do not send them. */
export function comesFromPage({ headers }: Request): boolean {
  return headers.has("origin") || headers.has("sec-fetch-site");
}
