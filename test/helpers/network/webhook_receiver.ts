/** A webhook receiver on 127.0.0.1 that verifies signatures with the standardwebhooks library. */
import { Webhook } from "standardwebhooks";

export interface ReceivedDelivery {
  id: string;
  event: { id: string; type: string; data: Record<string, unknown> };
}

export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  /** All deliveries with a valid signature, in order, including deliveries that received an error response. */
  received: ReceivedDelivery[];
  /** The number of requests without a valid signature. */
  forged: number;
  /** Creates the response to a delivery; 204 by default. */
  respond: (delivery: ReceivedDelivery) => Response | Promise<Response>;
  secret: string;
  /** The current and maximum number of requests in progress, excluding requests that the sender has aborted. */
  open: { now: number; max: number };
}

/** Starts a receiver; `await using` stops it. */
export async function openWebhookReceiver(options: { port?: number } = {}): Promise<WebhookReceiver> {
  const receiver = {
    received: [] as ReceivedDelivery[],
    forged: 0,
    respond: (_: ReceivedDelivery): Response | Promise<Response> => new Response(null, { status: 204 }),
    secret: "",
    open: { now: 0, max: 0 },
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    idleTimeout: 60,
    async fetch(request) {
      receiver.open.now += 1;
      receiver.open.max = Math.max(receiver.open.max, receiver.open.now);
      try {
        const body = await request.text();
        const headers = Object.fromEntries(request.headers.entries());
        let event: ReceivedDelivery["event"];
        try {
          event = new Webhook(receiver.secret).verify(body, headers) as ReceivedDelivery["event"];
        } catch {
          receiver.forged += 1;
          return new Response(null, { status: 401 });
        }
        const delivery = { id: headers["webhook-id"] ?? "", event };
        receiver.received.push(delivery);
        const left = Promise.withResolvers<Response>();
        request.signal.addEventListener("abort", () => left.resolve(new Response()));
        return await Promise.race([receiver.respond(delivery), left.promise]);
      } finally {
        receiver.open.now -= 1;
      }
    },
  });
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${server.port}/hook`,
    [Symbol.asyncDispose]: () => server.stop(true),
  });
}
