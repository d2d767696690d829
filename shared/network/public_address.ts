/**
 * Which addresses are public. Our servers send requests on behalf of others only to these; otherwise strangers could reach our
 * network through us. Webhooks may also lead to the operator's own networks (webhook_destination.ts).
 */
import { isIPv4 } from "node:net";
import { isInNetworks, openNetworks } from "./networks.ts";

/** The rest of IPv6 is loopback, private, link-local, multicast, unassigned or mapped IPv4. */
const GLOBAL_IPV6 = openNetworks("2000::/3");

/**
 * IANA's registry of special-purpose addresses. Of IPv4: this network, private, shared, loopback, link-local,
 * documentation, multicast … Of the global range of IPv6: protocol assignments such as Teredo, documentation, 6to4 around
 * IPv4.
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

/** Whether an IP address, with or without the brackets of a URL, is public. */
export function isPublicAddress(text: string): boolean {
  const address = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  return (isIPv4(address) || isInNetworks(GLOBAL_IPV6, address)) && !isInNetworks(SPECIAL, address);
}

/** Whether a URL's host names this machine; names are not resolved. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])\.?$/.test(hostname);
}
