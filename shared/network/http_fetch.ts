/** `fetch` for requests to other servers. It never reuses a connection, and limits the time without data. */
import { DeadlineExceeded } from "../process/with_timeout.ts";

export interface HttpFetchOptions extends Omit<RequestInit, "keepalive"> {
  /** The maximum time until the response headers arrive. It includes sending the request body. */
  headersMs: number;
  /** The maximum time until the next chunk of the response body, while a reader waits for it. */
  idleMs: number;
}

/**
 * Sends a request and returns the response, which must be read or canceled. Throws DeadlineExceeded if a limit is exceeded,
 * and the abort reason of `signal`, which also ends the body. The body is read only as fast as its reader consumes it.
 *
 * Plain `fetch` keeps connections for later requests. If the network silently drops such a connection, the next request waits
 * for as long as the kernel retransmits its packets, which takes many minutes.
 */
export async function httpFetch(url: string | URL, options: HttpFetchOptions): Promise<Response> {
  const { headersMs, idleMs, signal, ...init } = options;
  const cutOff = new AbortController();
  const startTimer = (ms: number): Timer => setTimeout(() => cutOff.abort(new DeadlineExceeded(ms)), ms);
  const timer = startTimer(headersMs);
  const request = fetch(url, {
    ...init,
    keepalive: false,
    signal: signal ? AbortSignal.any([signal, cutOff.signal]) : cutOff.signal,
  });
  const { body, status, headers } = await request.finally(() => clearTimeout(timer));
  if (!body) return new Response(null, { status, headers });
  const reader = body.getReader();
  const limited = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const idle = startTimer(idleMs);
        try {
          const next = await reader.read();
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        } finally {
          clearTimeout(idle);
        }
      },
      async cancel(reason) {
        cutOff.abort(reason);
        // The canceled body fails with this reason.
        await reader.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(limited, { status, headers });
}
