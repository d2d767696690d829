/** `fetch` for requests to other servers: no connection is used twice, and no silence lasts longer than its limit. */
import { DeadlineExceeded } from "../process/with_timeout.ts";

export interface HttpFetchOptions extends Omit<RequestInit, "keepalive"> {
  /** Longest time until the headers of the response. The request's body is sent within it. */
  headersMs: number;
  /** Longest time until the next chunk of the response's body, while a reader waits for one. */
  idleMs: number;
}

/**
 * Sends a request and returns its response, which must be read or canceled. Throws DeadlineExceeded where a limit ends, and
 * the reason of `signal`, which ends the body too. The body is read as slowly as its reader takes it.
 *
 * `fetch` keeps connections for later requests. When the network between falls silent, nothing says so, and the next
 * request waits on such a connection for as long as the kernel repeats its packets: many minutes.
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
        // Ends with the reason.
        await reader.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(limited, { status, headers });
}
