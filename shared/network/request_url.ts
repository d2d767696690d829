/** The URL of a request that one of our servers has received. */

/** More than a name of 253 characters with a port. Parsing a long one takes long. */
const MAX_HOST_LENGTH = 300;

/**
 * Returns the URL of a request; null if its `Host` header is no host. HTTP/1.0 has requests without one, which Bun gives
 * a path only: health checks of load balancers are like that.
 */
export function requestUrl({ url, headers }: Request): URL | null {
  const hasNoHost = url.startsWith("/") && !headers.get("host");
  if (hasNoHost) return URL.parse(`http://localhost${url}`);
  const [, host = ""] = /^\w+:\/\/([^/?#\\]*)/.exec(url) ?? [];
  return host.length > MAX_HOST_LENGTH ? null : URL.parse(url);
}
