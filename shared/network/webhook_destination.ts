/**
 * Where webhooks may lead: to public addresses over TLS, and to the operator's own networks (WEBHOOK_ALLOWED_NETWORKS). A
 * URL is checked when it is saved, and the addresses of its host with every delivery, as the connection is made.
 */
import { type BlockList, isIP } from "node:net";
import { isInNetworks } from "./networks.ts";
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
