/** Puts the app behind a socket. */
import type { App } from "./app.ts";
import { clientAddress } from "./request_address.ts";

/** Cuts off connections that open and stay silent, and bodies that stop coming. */
const IDLE_TIMEOUT_SECONDS = 60;

const EXPORT_PATH = /\/api\/v1\/export\/(projects\/|jobs\/[^/]+\/download)/;

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  trustProxy: boolean;
}

/** Starts to listen. Throws with the code `EADDRINUSE` when the port is taken. */
export function listen(app: App, options: ListenOptions): Bun.Server<undefined> {
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    // request_body.ts counts, and refuses with an answer of ours.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Bun's default outside development: two processes on one port, each with half of the connections.
    reusePort: false,
    fetch: (request, server) => {
      // An export may be silent for longer, while its reader pauses. The setting stays with the connection, so every
      // request sets it anew.
      const isExport = EXPORT_PATH.test(request.url);
      server.timeout(request, isExport ? 0 : IDLE_TIMEOUT_SECONDS);
      const peer = server.requestIP(request)?.address ?? null;
      return app.handle(request, clientAddress(request.headers, peer, options.trustProxy));
    },
  });
}
