/**
 * Where webhooks may lead: to public addresses over TLS, and to the operator's own networks (WEBHOOK_ALLOWED_NETWORKS). A
 * URL is checked when it is saved, and the addresses of its host with every delivery, as the connection is made.
 */
import { BlockList, isIP } from "node:net";
import { isLoopbackHost, isPublicAddress } from "./public_address.ts";

/** Receivers listen there or at 1024 and above; other services, such as mail, below. */
const WEB_PORTS: readonly number[] = [80, 443];

/** Returns why nothing is ever delivered to a URL; null if that does not show before its host is resolved. */
export function findAddressProblem(url: URL, networks: BlockList): string | null {
  const port = url.port === "" ? 443 : Number(url.port);
  if (port < 1024 && !WEB_PORTS.includes(port)) return "its port must be 80, 443, or 1024 or above";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isTls = url.protocol === "https:";
  if (isIP(host) !== 0) {
    if (isDeliverable(networks, host, { isTls })) return null;
    return isDeliverable(networks, host, { isTls: true })
      ? "it must begin with https"
      : "its address is private, local or reserved";
  }
  const hasNetworks = networks.rules.length > 0;
  if (isLoopbackHost(host) && !hasNetworks) return "it names this machine";
  return isTls || hasNetworks ? null : "it must begin with https";
}

/** Returns whether webhooks may be delivered to an IP address. Without TLS, only own networks are allowed. */
export function isDeliverable(networks: BlockList, address: string, { isTls }: { isTls: boolean }): boolean {
  return isInNetworks(networks, address) || (isTls && isPublicAddress(address));
}

/** Returns whether an IP address, with or without the brackets of a URL, is in one of the networks. */
export function isInNetworks(networks: BlockList, text: string): boolean {
  const address = text.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  // BlockList treats a mapped IPv4 address as the IPv4 address.
  if (family === 0 || /^::ffff:/i.test(address)) return false;
  return networks.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Returns the networks of a comma list such as `10.1.0.0/16,fd00::/8`; null if it is malformed. */
export function parseNetworks(text: string): BlockList | null {
  const networks = new BlockList();
  for (const item of text.split(",")) {
    const [, address = "", prefix = ""] = /^\s*([0-9a-fA-F.:]+)\/(\d{1,3})\s*$/.exec(item) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128)) return null;
    networks.addSubnet(address, Number(prefix), family === 4 ? "ipv4" : "ipv6");
  }
  return networks;
}

/** Returns the networks of a list that `parseNetworks` accepts; none for null. */
export function openNetworks(text: string | null): BlockList {
  const networks = text === null ? new BlockList() : parseNetworks(text);
  if (!networks) throw new Error("Cannot read networks: the list was not checked");
  return networks;
}
