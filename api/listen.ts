/** Puts the app behind a socket. */
import { setTimeout as delay, setImmediate as nextTurnOfLoop } from "node:timers/promises";
import type { App } from "./app.ts";
import { clientAddress } from "./http/client_address.ts";
import { TcpSocket } from "./http/pipeline/tcp_socket.ts";
import type { ClientConnection } from "./http/request_context.ts";

/**
 * Closes connections that send nothing, and requests whose body is still incomplete, after this time. Bun itself limits
 * headers to some ten seconds and to 16 KiB with the URL; larger ones are 431.
 */
const IDLE_TIMEOUT_SECONDS = 60;

/** Bun's minimum; it checks every four seconds. */
const CLOSE_SECONDS = 1;
/** Bun does not tell when a response is sent. */
const OVER_POLL_MS = 20;

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Number of trusted proxies in front. */
  trustProxy: number;
  /** 60 if omitted. */
  idleTimeoutSeconds?: number;
}

/** Starts to listen. Throws with the code `EADDRINUSE` when the port is taken. */
export function listen(app: App, options: ListenOptions): Bun.Server<undefined> {
  const { idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS } = options;
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: idleTimeoutSeconds,
    // request_body.ts has the limit, with an error response of ours.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Bun's default outside development: two processes on one port, each with half of the connections.
    reusePort: false,
    fetch: (request, server) => {
      const peer = server.requestIP(request);
      const address = clientAddress(request.headers, peer?.address ?? null, options.trustProxy);
      return app.handle(request, address, clientConnection(request, server, peer?.port ?? 0));
    },
  });
}

/** A shorter turn of the event loop was idle. */
const QUIET_TURN_MS = 0.1;
/** How long such a turn is waited for. */
const QUIET_WAIT_MS = 1_000;

/**
 * Stops accepting connections, closes idle ones and waits for running requests. It first waits for a turn of the event
 * loop with nothing to do, because requests that have reached the socket but not the process are lost.
 */
export async function stopListening(server: Bun.Server<undefined>): Promise<void> {
  const deadline = performance.now() + QUIET_WAIT_MS;
  let turnMs = Number.POSITIVE_INFINITY;
  while (turnMs > QUIET_TURN_MS && performance.now() < deadline) {
    const startedAt = performance.now();
    await nextTurnOfLoop();
    turnMs = performance.now() - startedAt;
  }
  await server.stop();
  // The last responses are logged.
  await delay(2 * OVER_POLL_MS);
}

function clientConnection(
  request: Request,
  server: Bun.Server<undefined>,
  peerPort: number,
): ClientConnection {
  // Bun forgets the address of a request whose response it has sent, or whose client is gone.
  const isOpen = () => server.requestIP(request) !== null;
  const socket = new TcpSocket({ peer: peerPort, local: server.port ?? 0 });
  return {
    isOpen,
    async whenOver() {
      while (isOpen()) await delay(OVER_POLL_MS);
      return !request.signal.aborted;
    },
    mayBeSilent: () => server.timeout(request, 0),
    acknowledgedBytes: () => (isOpen() ? socket.acknowledgedBytes() : null),
    reset() {
      if (!isOpen()) return;
      socket.resetOnClose();
      // When Bun sends a file itself, a client that reads on does not postpone this timeout.
      server.timeout(request, CLOSE_SECONDS);
    },
  };
}
