/**
 * Which addresses are public. Our servers send requests on behalf of others to no other ones, which would let strangers reach
 * our network through us. Webhooks may also lead to the operator's own networks (webhook_destination.ts).
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * IANA's registry of special-purpose addresses: this network, private, shared, loopback, link-local, documentation,
 * multicast …
 */
const SPECIAL_IPV4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Special parts of the global unicast range: protocol assignments such as Teredo, documentation, 6to4 around IPv4. */
const SPECIAL_IPV6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const specialIpv4 = toBlockList(SPECIAL_IPV4, "ipv4");
const specialIpv6 = toBlockList(SPECIAL_IPV6, "ipv6");
/** The rest of IPv6 is loopback, private, link-local, multicast, unassigned or mapped IPv4. */
const globalIpv6 = toBlockList([["2000::", 3]], "ipv6");

/** Whether an IP address, with or without the brackets of a URL, is public. */
export function isPublicAddress(text: string): boolean {
  const address = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIPv4(address)) return !specialIpv4.check(address, "ipv4");
  return isIPv6(address) && globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
}

/** Whether a URL's host names this machine; names are not resolved. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])\.?$/.test(hostname);
}

function toBlockList(networks: typeof SPECIAL_IPV4, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}
