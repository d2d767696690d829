/** Parses the URL of a request to one of our servers. */

/** Sufficient for a name of 253 characters and a port. Parsing a longer host takes long. */
const MAX_HOST_LENGTH = 300;

/**
 * Returns the URL of a request; null if its `Host` header is not a valid host. HTTP/1.0 requests, such as health checks of
 * load balancers, may have no `Host` header. Bun gives them only a path.
 */
export function requestUrl({ url, headers }: Request): URL | null {
  const hasNoHost = url.startsWith("/") && !headers.get("host");
  if (hasNoHost) return URL.parse(`http://localhost${url}`);
  const [, host = ""] = /^\w+:\/\/([^/?#\\]*)/.exec(url) ?? [];
  return host.length > MAX_HOST_LENGTH ? null : URL.parse(url);
}
