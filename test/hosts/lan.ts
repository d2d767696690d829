/**
 * A network of hosts within this machine: network namespaces on a bridge. Needs Linux, `ip` and root.
 *
 * * This machine's addresses in the network are local routes, not addresses of a device. Adding or removing a device's address
 * would make Chromium, which another test may be running, abort its requests with ERR_NETWORK_CHANGED.
 */
import { randomInt } from "node:crypto";
import { runCommand } from "../helpers/process/command.ts";

export interface LanHost {
  address: string;
  /** A command prefix that runs a command on the host with `exec`, so the process id stays the same. */
  prefix: readonly string[];
  /** Disconnects the host without notice, as when a switch fails. */
  cutOff(): Promise<void>;
  /** Connects the host again after `cutOff`. */
  reconnect(): Promise<void>;
  /** Limits the host's bandwidth in both directions, in megabits per second. */
  slowDown(megabits: number): Promise<void>;
}

export interface LanAddress {
  address: string;
  /** Drops all packets to and from the address. Connections stay open and get no error. */
  cutOff(): Promise<void>;
  /** Lets packets through again after `cutOff`. */
  reconnect(): Promise<void>;
}

export interface Lan extends AsyncDisposable {
  /** This machine's address in the network. */
  address: string;
  /** The network's address range in CIDR notation. */
  network: string;
  /** Adds another address of this machine, for a server that a test cuts off. */
  addAddress(number: number): Promise<LanAddress>;
  /** Adds a host with these `sysctl` settings, such as `net.ipv4.tcp_retries2=6`. */
  addHost(name: string, sysctls?: readonly string[]): Promise<LanHost>;
}

async function run(...command: string[]): Promise<void> {
  const { exitCode, stderr } = await runCommand(command);
  if (exitCode !== 0) throw new Error(`Cannot run "${command.join(" ")}": ${stderr.trim()}`);
}

const ip = (...words: string[]): Promise<void> => run("ip", ...words);

/**
 * Opens a network with a random address range. `await using` removes the network and its hosts, on which no process may
 * run by then.
 */
export async function openLan(): Promise<Lan> {
  const [high, low] = [randomInt(64, 128), randomInt(0, 256)];
  const stem = `10.${high}.${low}`;
  const id = `ulr${high}x${low}`;
  const address = `${stem}.1`;
  const namespaces: string[] = [];
  const addLocalRoute = (to: string) => ip("route", "add", "local", to, "dev", id, "src", address);
  // A fixed address. By default, a bridge uses the lowest address of its ports, and changes it when that port is detached.
  const hardwareAddress = [2, 0, 0, high, low, 1].map((byte) => byte.toString(16)).join(":");
  await ip("link", "add", id, "address", hardwareAddress, "type", "bridge");
  const dispose = async () => {
    // Deleting the namespaces deletes their veth pairs.
    for (const namespace of namespaces) await ip("netns", "delete", namespace);
    await ip("link", "delete", id);
  };
  try {
    await ip("link", "set", id, "addrgenmode", "none", "up");
    await addLocalRoute(address);
    await ip("route", "add", `${stem}.0/24`, "dev", id, "src", address);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    address,
    network: `${stem}.0/24`,
    async addAddress(number) {
      const added = `${stem}.${number}`;
      await addLocalRoute(added);
      return {
        address: added,
        reconnect: () => addLocalRoute(added),
        cutOff: () => ip("route", "delete", "local", added, "dev", id),
      };
    },
    async addHost(name, sysctls = []) {
      const number = namespaces.length + 2;
      const namespace = `${id}-${name}`;
      const cable = `${id}c${number}`;
      const prefix = ["ip", "netns", "exec", namespace];
      await ip("netns", "add", namespace);
      namespaces.push(namespace);
      await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", namespace);
      await ip("link", "set", cable, "master", id, "addrgenmode", "none", "up");
      await ip("-n", namespace, "address", "add", `${stem}.${number}/24`, "dev", "eth0");
      for (const device of ["lo", "eth0"]) await ip("-n", namespace, "link", "set", device, "up");
      for (const setting of sysctls) await run(...prefix, "sysctl", "-qw", setting);
      return {
        address: `${stem}.${number}`,
        prefix,
        cutOff: () => ip("link", "set", cable, "nomaster"),
        reconnect: () => ip("link", "set", cable, "master", id),
        async slowDown(megabits) {
          const limit = ["root", "tbf", "rate", `${megabits}mbit`, "burst", "64kb", "latency", "50ms"];
          await run("tc", "qdisc", "replace", "dev", cable, ...limit);
          await run("tc", "-n", namespace, "qdisc", "replace", "dev", "eth0", ...limit);
        },
      };
    },
    [Symbol.asyncDispose]: dispose,
  };
}
