/** Networks of IP addresses, such as `10.1.0.0/16` and `fd00::/8`. */
import { BlockList, isIP } from "node:net";

/** Parses a comma-separated list of networks, such as `10.1.0.0/16,fd00::/8`. Returns null if it is malformed. */
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

/** Returns the networks of a list that `parseNetworks` accepts. Returns no networks for null. */
export function openNetworks(text: string | null): BlockList {
  const networks = text === null ? new BlockList() : parseNetworks(text);
  if (!networks) throw new Error("Cannot read networks: the list was not checked");
  return networks;
}

/** Returns whether an IP address, with or without the brackets of a URL, is in one of the networks. */
export function isInNetworks(networks: BlockList, text: string): boolean {
  const address = text.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  // BlockList would treat an IPv4-mapped address as the IPv4 address.
  if (family === 0 || /^::ffff:/i.test(address)) return false;
  return networks.check(address, family === 4 ? "ipv4" : "ipv6");
}
