/** Serves the app on a socket. */
import { setTimeout as delay, setImmediate as nextTurnOfLoop } from "node:timers/promises";
import type { App } from "./app.ts";
import { clientAddress } from "./http/client_address.ts";
import { TcpSocket } from "./http/pipeline/tcp_socket.ts";
import type { ClientConnection } from "./http/request_context.ts";

/**
 * Time after which Bun closes a connection that sends nothing or has not sent the whole body. Bun itself limits headers to
 * about ten seconds and, with the URL, to 16 KiB; larger headers get a 431.
 */
const IDLE_TIMEOUT_SECONDS = 60;

/** Bun's minimum timeout. Bun checks timeouts every four seconds. */
const CLOSE_SECONDS = 1;
/** Polling interval, because Bun does not report when a response has been sent. */
const OVER_POLL_MS = 20;

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Number of trusted proxies in front of the service. */
  trustProxy: number;
  /** Default: 60. */
  idleTimeoutSeconds?: number;
}

/** Starts to listen. Throws an error with the code `EADDRINUSE` if the port is taken. */
export function listen(app: App, options: ListenOptions): Bun.Server<undefined> {
  const { idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS } = options;
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: idleTimeoutSeconds,
    // request_body.ts enforces the limit, so that clients get our own error response.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // With Bun's default outside development, two processes could share the port, each with half of the connections.
    reusePort: false,
    fetch: (request, server) => {
      const peer = server.requestIP(request);
      const address = clientAddress(request.headers, peer?.address ?? null, options.trustProxy);
      return app.handle(request, address, clientConnection(request, server, peer?.port ?? 0));
    },
  });
}

/** A turn of the event loop that is shorter than this had no work. */
const QUIET_TURN_MS = 0.1;
/** Maximum wait for a turn without work. */
const QUIET_WAIT_MS = 1_000;

/**
 * Stops accepting connections, closes idle ones and waits for running requests. It first waits for an event loop turn without
 * work, because requests that have reached the socket but not the process would be lost.
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
  // Gives `whenOver` time to notice the last responses, so that they are logged.
  await delay(2 * OVER_POLL_MS);
}

function clientConnection(
  request: Request,
  server: Bun.Server<undefined>,
  peerPort: number,
): ClientConnection {
  // Bun forgets the client's address once the response is sent or the client has disconnected.
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
      // When Bun sends a file itself, a client that keeps reading does not extend this timeout.
      server.timeout(request, CLOSE_SECONDS);
    },
  };
}
