/** A TCP proxy between client and server that can delay or stop the traffic. */
import net from "node:net";

export interface SlowProxy extends AsyncDisposable {
  /** The origin to use in place of the server's. */
  origin: string;
  /** Returns the number of bytes forwarded to the server. */
  forwarded(): number;
  /** Returns the number of bytes passed on from the server to its clients. */
  returned(): number;
  /** Returns the number of open connections. */
  connections(): number;
  /**
   * Holds all bytes for the server until `until` resolves. The returned promise resolves when the next bytes from a
   * client arrive.
   */
  hold(until: Promise<void>): Promise<void>;
  /** Passes on `afterBytes` more bytes from the server, then discards the rest. */
  stall(afterBytes?: number): void;
  /** Resets all open connections. */
  reset(): void;
  /** Ends a stall for new connections. Existing connections receive nothing more from the server. */
  recover(): void;
}

interface SlowProxyOptions {
  /** The pause after each chunk for the server, in milliseconds. */
  pauseMs?: number;
  /** Returns the chunk that the server receives in place of the original. */
  alter?: (chunk: Buffer) => Buffer;
}

export async function openSlowProxy(
  target: string,
  { pauseMs = 0, alter = (chunk) => chunk }: SlowProxyOptions = {},
): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let forwarded = 0;
  let held: Promise<void> | undefined;
  let onArrival: (() => void) | undefined;
  let returned = 0;
  let returnable = Number.POSITIVE_INFINITY;
  let recoveries = 0;
  const server = net.createServer((client) => {
    const era = recoveries;
    const isLost = () => era < recoveries;
    const upstream = net.connect(Number(port), hostname);
    sockets.add(client);
    client.on("data", async (chunk: Buffer) => {
      client.pause();
      onArrival?.();
      await held;
      forwarded += chunk.length;
      upstream.write(alter(chunk));
      setTimeout(() => client.resume(), pauseMs);
    });
    upstream.on("data", (chunk: Buffer) => {
      const passed = chunk.subarray(0, isLost() ? 0 : Math.max(0, returnable - returned));
      returned += passed.length;
      if (passed.length > 0) client.write(passed);
    });
    const end = () => {
      sockets.delete(client);
      client.destroy();
      upstream.destroy();
    };
    client.on("close", end).on("error", end);
    // A client that connected before `recover()` must not notice that the server closes the connection.
    const onUpstreamEnd = () => isLost() || end();
    upstream.on("close", onUpstreamEnd).on("error", onUpstreamEnd);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    forwarded: () => forwarded,
    connections: () => sockets.size,
    returned: () => returned,
    hold(until) {
      held = until;
      return new Promise((resolve) => {
        onArrival = resolve;
      });
    },
    stall: (afterBytes = 0) => {
      returnable = returned + afterBytes;
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    recover() {
      recoveries += 1;
      returnable = Number.POSITIVE_INFINITY;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
