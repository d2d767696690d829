/**
 * Decides where webhooks may be delivered: to public addresses over TLS, and to the operator's own networks
 * (WEBHOOK_ALLOWED_NETWORKS). A URL is checked when it is saved. The addresses of its host are checked at every delivery,
 * while connecting.
 */
import { type BlockList, isIP } from "node:net";
import { isInNetworks } from "./networks.ts";
import { isLoopbackHost, isPublicAddress } from "./public_address.ts";

/** Ports below 1024 that receivers may use. Other services, such as mail, use the remaining ports below 1024. */
const WEB_PORTS: readonly number[] = [80, 443];

/**
 * Returns the reason why nothing can be delivered to a URL. Returns null if there is no such reason, or if it depends on the
 * addresses of the host.
 */
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

/** Returns whether webhooks may be delivered to an IP address. Without TLS, only the operator's own networks are allowed. */
export function isDeliverable(networks: BlockList, address: string, { isTls }: { isTls: boolean }): boolean {
  return isInNetworks(networks, address) || (isTls && isPublicAddress(address));
}
