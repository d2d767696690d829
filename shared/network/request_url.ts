/** The URL of a request that one of our servers has received. */

/**
 * Returns the URL of a request; null if its `Host` header is no host. HTTP/1.0 has requests without one, which Bun gives
 * a path only: health checks of load balancers are like that.
 */
export function requestUrl({ url, headers }: Request): URL | null {
  const hasNoHost = url.startsWith("/") && !headers.get("host");
  return URL.parse(hasNoHost ? `http://localhost${url}` : url);
}
