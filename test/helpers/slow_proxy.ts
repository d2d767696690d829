/** A network between a client and a server that can be slow, or stop. */
import net from "node:net";

export interface SlowProxy extends AsyncDisposable {
  /** Where to connect instead of the server. */
  origin: string;
  /** Bytes that have reached the server. */
  forwarded(): number;
  /** Connections that are open. */
  connections(): number;
  /** From now on nothing comes back from the server. */
  stall(): void;
}

/** Opens the proxy; `pauseMs` is waited after each chunk on the way to the server. */
export async function openSlowProxy(target: string, { pauseMs = 0 } = {}): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let forwarded = 0;
  let isStalled = false;
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    sockets.add(client);
    client.on("data", (chunk) => {
      forwarded += chunk.length;
      upstream.write(chunk);
      client.pause();
      setTimeout(() => client.resume(), pauseMs);
    });
    upstream.on("data", (chunk) => {
      if (!isStalled) client.write(chunk);
    });
    const end = () => {
      sockets.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("close", end).on("error", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    forwarded: () => forwarded,
    connections: () => sockets.size,
    stall: () => {
      isStalled = true;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
