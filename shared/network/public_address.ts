/**
 * Decides which addresses are public. Our servers send requests on behalf of other people only to public addresses, because
 * strangers could otherwise reach our network. Webhooks may also use the operator's own networks (webhook_destination.ts).
 */
import { isIPv4 } from "node:net";
import { isInNetworks, openNetworks } from "./networks.ts";

/** All other IPv6 addresses are loopback, private, link-local, multicast, unassigned or IPv4-mapped. */
const GLOBAL_IPV6 = openNetworks("2000::/3");

/**
 * Networks of IANA's registry of special-purpose addresses. The IPv4 networks are "this network", private, shared, loopback,
 * link-local, documentation, multicast and others. The networks in the global range of IPv6 are protocol assignments such as
 * Teredo, documentation, and 6to4, which embeds IPv4 addresses.
 */
const SPECIAL = openNetworks(
  [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
  ].join(),
);

/** Returns whether an IP address, with or without the brackets of a URL, is public. */
export function isPublicAddress(text: string): boolean {
  const address = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  return (isIPv4(address) || isInNetworks(GLOBAL_IPV6, address)) && !isInNetworks(SPECIAL, address);
}

/** Returns whether the host of a URL is this machine. Does not resolve names. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])\.?$/.test(hostname);
}
