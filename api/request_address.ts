/** The address a request is counted by. */

/** An IPv4 client of a socket that listens on both families. */
const MAPPED_PREFIX = "::ffff:";

/**
 * The connection's other end; behind a proxy that is trusted, what that proxy says: the last hop of
 * `X-Forwarded-For`, since the hops before it are the client's own words.
 */
export function clientAddress(headers: Headers, peer: string | null, trustProxy: boolean): string {
  const lastHop = trustProxy ? headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
  const address = lastHop || peer || "unknown";
  return address.startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : address;
}
