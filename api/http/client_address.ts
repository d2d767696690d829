/** The client's address, and the networks that rate limits count by. */
import { isIP, isIPv4, isIPv6 } from "node:net";

const GROUPS = 8;
/** `::ffff:0:0/96`: an IPv4 client of a dual-stack socket. */
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];

/**
 * Returns the client's address: the connection's peer, or with trusted proxies the entry of `X-Forwarded-For` that is
 * `proxies` places from the end. The client can choose the entries before it. If there is no IP address in that place,
 * these proxies did not write the header, and the peer's address counts.
 */
export function clientAddress(headers: Headers, peer: string | null, proxies: number): string {
  const hops = proxies > 0 ? (headers.get("x-forwarded-for")?.split(",") ?? []) : [];
  const hop = withoutPort(hops.at(-proxies)?.trim() ?? "");
  // Zone names have a meaning only on their own host.
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

/** Some proxies append the port, which would give every connection its own rate limit, or write brackets without one. */
function withoutPort(address: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return bracketed ?? dotted ?? address;
}

/** Returns the unit of limits per address: an IPv4 address, or the /64 of an IPv6 address, which is one subscriber's. */
export function networkOf(address: string): string {
  return address.includes(":") ? coarseNetworkOf(address, 64) : address;
}

/** The limit of a /48, as a multiple of a /64's: phones of one provider can share it. */
export const SITE_SHARE = 10;

/** Returns the /48 of an IPv6 address, whose 65,536 networks one customer can have; null for others. */
export function siteOf(address: string): string | null {
  return isIPv6(address) ? coarseNetworkOf(address, 48) : null;
}

/** Returns the /24 of an IPv4 address, and the /64 or /48 of an IPv6 address, whose host chooses what follows the /64. */
export function coarseNetworkOf(address: string, ipv6Bits: 64 | 48): string {
  if (isIPv4(address)) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  const groups = groupsOf(address)?.slice(0, ipv6Bits / 16);
  return groups ? `${groups.map((group) => group.toString(16)).join(":")}::/${ipv6Bits}` : address;
}

/** Returns the eight numbers of an IPv6 address in any notation; `null` for anything else. */
function groupsOf(address: string): number[] | null {
  // Most addresses have no colon, and isIPv6 matches a long expression.
  if (!address.includes(":") || !isIPv6(address)) return null;
  const [withoutZone = ""] = address.split("%");
  // The canonical notation has no dotted decimals.
  const canonical = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  const [left = [], right = []] = canonical
    .split("::")
    .map((side) => side.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(GROUPS - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
