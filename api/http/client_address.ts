/** Finds the client's address, and the networks that rate limits use as keys. */
import { isIP, isIPv4, isIPv6 } from "node:net";

const GROUPS = 8;
/** The prefix `::ffff:0:0/96` of an IPv4 client on a dual-stack socket. */
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];

/**
 * Returns the client's address. Without trusted proxies, it is the connection's peer. With them, it is the `X-Forwarded-For`
 * entry at position `proxies` from the end; the client can forge earlier entries. If that entry is not an IP address, the
 * proxies did not write the header, and the peer's address is used.
 */
export function clientAddress(headers: Headers, peer: string | null, proxies: number): string {
  const hops = proxies > 0 ? (headers.get("x-forwarded-for")?.split(",") ?? []) : [];
  const hop = withoutPort(hops.at(-proxies)?.trim() ?? "");
  // Rejects IPv6 addresses with a zone ID (`%eth0`), which has a meaning only on the host that assigned it.
  const isAddress = hops.length >= proxies && isIP(hop) !== 0 && !hop.includes("%");
  const address = isAddress ? hop : withoutPort(peer ?? "unknown");
  const groups = groupsOf(address);
  return groups && MAPPED_PREFIX.every((group, index) => group === groups[index])
    ? groups
        .slice(MAPPED_PREFIX.length)
        .flatMap((group) => [group >> 8, group & 0xff])
        .join(".")
    : address;
}

/** Removes the port and brackets that some proxies add. A port would give every connection its own rate limit. */
function withoutPort(address: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}

/** Returns the key of per-address limits: an IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber. */
export function networkOf(address: string): string {
  return address.includes(":") ? coarseNetworkOf(address, 64) : address;
}

/** The limit of a /48, as a multiple of a /64's limit. Phones of one provider can share a /48. */
export const SITE_SHARE = 10;

/** Returns the /48 of an IPv6 address; null for other addresses. One customer can have all 65,536 networks of a /48. */
export function siteOf(address: string): string | null {
  return isIPv6(address) ? coarseNetworkOf(address, 48) : null;
}

/** Returns the /24 of an IPv4 address, or the /64 or /48 of an IPv6 address. An IPv6 host chooses the bits after the /64. */
export function coarseNetworkOf(address: string, ipv6Bits: 64 | 48): string {
  if (isIPv4(address)) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  const groups = groupsOf(address)?.slice(0, ipv6Bits / 16);
  return groups ? `${groups.map((group) => group.toString(16)).join(":")}::/${ipv6Bits}` : address;
}

/** Returns the eight groups of an IPv6 address in any notation; null for any other text. */
function groupsOf(address: string): number[] | null {
  // Most addresses have no colon, and this check is faster than the long regular expression of isIPv6.
  if (!address.includes(":") || !isIPv6(address)) return null;
  const [withoutZone = ""] = address.split("%");
  // `URL` returns the canonical notation, which has no dotted decimals.
  const canonical = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  const [left = [], right = []] = canonical
    .split("::")
    .map((side) => side.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(GROUPS - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
