/** Requests on a network that goes silent, breaks, or is faster than the reader. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import net from "node:net";
import { httpFetch } from "../../../shared/network/http_fetch.ts";
import { DeadlineExceeded } from "../../../shared/process/with_timeout.ts";
import { openSlowProxy } from "../../helpers/network/slow_proxy.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const SHORT = { headersMs: 200, idleMs: 200 };
const LONG = { headersMs: 60_000, idleMs: 60_000 };
const MIB = 2 ** 20;
const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";

/** Starts a server that sends `text` on each connection after the first request, and then nothing more. */
async function openSilentServer(text: string) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    socket.once("data", () => socket.write(text));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    connections: () => sockets.size,
    breakOff: () => sockets.forEach((socket) => void socket.resetAndDestroy()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const failureOf = (step: Promise<unknown>) => step.catch((error: unknown) => error);

test("a request that gets no response times out, and its connection is closed", async () => {
  await using server = await openSilentServer("");
  expect(await failureOf(httpFetch(server.url, SHORT))).toBeInstanceOf(DeadlineExceeded);
  await waitFor(() => server.connections() === 0);
});

test("a response body that stops arriving times out, and its connection is closed", async () => {
  await using server = await openSilentServer(`${HEAD}part`);
  const response = await httpFetch(server.url, SHORT);
  expect(response.status).toBe(200);
  expect(await failureOf(response.text())).toBeInstanceOf(DeadlineExceeded);
  await waitFor(() => server.connections() === 0);
});

test("reading a response body fails if the connection is reset", async () => {
  await using server = await openSilentServer(`${HEAD}part`);
  const response = await httpFetch(server.url, LONG);
  const text = failureOf(response.text());
  server.breakOff();
  expect(await text).toBeInstanceOf(Error);
});

test("aborting the signal ends the request, whether before the headers or during the body", async () => {
  for (const said of ["", `${HEAD}part`]) {
    await using server = await openSilentServer(said);
    const leaving = new AbortController();
    const reason = new Error("left");
    const request = failureOf(
      httpFetch(server.url, { ...LONG, signal: leaving.signal }).then((response) => response.text()),
    );
    await waitFor(() => server.connections() === 1);
    leaving.abort(reason);
    expect(await request).toBe(reason);
    await waitFor(() => server.connections() === 0);
  }
});

test("canceling the response body closes the connection", async () => {
  await using server = await openSilentServer(`${HEAD}part`);
  const { body } = await httpFetch(server.url, LONG);
  const reader = body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await waitFor(() => server.connections() === 0);
});

test("a response body is received only as fast as it is read, and a paused reader causes no timeout", async () => {
  let sent = 0;
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream(
          {
            pull(controller) {
              sent += MIB;
              controller.enqueue(new Uint8Array(MIB));
            },
          },
          { highWaterMark: 0 },
        ),
      ),
  });
  const { body } = await httpFetch(server.url, { headersMs: 60_000, idleMs: 4000 });
  const reader = body?.getReader();
  await reader?.read();
  // A fixed wait, because this test needs a pause longer than the idle limit.
  await Bun.sleep(5000);
  expect((await reader?.read())?.done).toBe(false);
  // Allows for the kernel buffers of both sides and the server's buffer.
  expect(sent / MIB).toBeLessThan(64);
  await reader?.cancel();
});

test("a request does not reuse a connection that the network has silently dropped", async () => {
  await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("here") });
  await using proxy = await openSlowProxy(server.url.origin);
  const ask = async () => (await httpFetch(proxy.origin, { headersMs: 10_000, idleMs: 10_000 })).text();
  expect(await ask()).toBe("here");
  proxy.recover();
  expect(await ask()).toBe("here");
});
