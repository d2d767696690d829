/** Large responses that nobody reads: their memory is bounded, and others are served. */
import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { data, probe } from "../../../helpers/http/probe_routes.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const MIB = 2 ** 20;
const BODY_BYTES = 6 * MIB;
const READERS = 100;

function largeRoutes() {
  // Made for every request, like a list of rows.
  const make = () => Array.from({ length: BODY_BYTES / 1024 }, (_, n) => `${n}`.padEnd(1024, "x"));
  return [
    probe("GET", "/api/v1/large", () => data(make())),
    probe("POST", "/api/v1/large", () => data(make()), { access: "caller" }),
    probe("GET", "/api/v1/small", () => data("small")),
  ];
}

/** Sends a request and reads nothing of the response. */
async function ask({ port }: ListeningApp, headers: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET /api/v1/large HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  return socket;
}

function get({ origin }: ListeningApp, path: string, key: string, method = "GET"): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "accept-encoding": "identity" };
  return fetch(`${origin}/api/v1${path}`, { method, headers });
}

function statuses({ app }: ListeningApp): number[] {
  return app.logLines.filter(({ route }) => route === "/api/v1/large").map(({ status }) => Number(status));
}

test("100 readers that do not read hold little memory, and others are served", async () => {
  await using server = await openListeningApp({ routes: largeRoutes() });
  const other = await server.app.make.person();
  expect((await (await get(server, "/large", other.key)).arrayBuffer()).byteLength).toBeGreaterThan(
    BODY_BYTES,
  );
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const sockets = await Promise.all(Array.from({ length: READERS }, () => ask(server, "")));
  await waitFor(() => statuses(server).length === READERS + 1);
  Bun.gc(true);
  // Without a limit it would be 100 times the body.
  expect(process.memoryUsage.rss() - before).toBeLessThan((READERS * BODY_BYTES) / 3);
  // The share of one address is one response.
  expect(statuses(server).filter((status) => status === 429)).toHaveLength(READERS - 1);
  expect((await get(server, "/small", other.key)).status).toBe(200);
  const large = await get(server, "/large", other.key);
  expect([large.status, (await large.arrayBuffer()).byteLength > BODY_BYTES]).toEqual([200, true]);
  for (const socket of sockets) socket.destroy();
  const again = await waitFor(async () => {
    const response = await fetch(`${server.origin}/api/v1/large`, {
      headers: { "accept-encoding": "identity" },
    });
    await response.arrayBuffer();
    return response.status === 200;
  });
  expect(again).toBe(true);
});

test("all readers together have a limit, and the error says what to do", async () => {
  await using server = await openListeningApp({ routes: largeRoutes() });
  const people = await Promise.all(Array.from({ length: 7 }, () => server.app.make.person()));
  const sockets: Socket[] = [];
  for (const { key } of people.slice(0, 5)) {
    sockets.push(await ask(server, `Authorization: Bearer ${key}\r\n`));
    await waitFor(() => statuses(server).length === sockets.length);
  }
  const [sixth, seventh] = people.slice(5).map(({ key }) => key) as [string, string];
  const refused = await get(server, "/large", sixth);
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    503,
    "5",
    {
      error: {
        code: "SERVICE_UNAVAILABLE",
        message:
          "32 MiB of responses are waiting for slow clients, the maximum. Request a smaller page, accept gzip or zstd, or retry in 5 seconds.",
        requestId: expect.any(String),
      },
    },
  ]);
  const headers = { authorization: `Bearer ${sixth}`, "accept-encoding": "gzip" };
  expect((await fetch(`${server.origin}/api/v1/large`, { headers })).status).toBe(200);
  expect((await get(server, "/large", seventh, "HEAD")).status).toBe(200);
  // The response to a write is always sent, however full the budget is.
  const written = await get(server, "/large", seventh, "POST");
  expect([written.status, (await written.arrayBuffer()).byteLength > BODY_BYTES]).toEqual([200, true]);
  const { registry } = server.app.deps.metrics;
  const waiting = async () =>
    Number(/^http_large_response_bytes (\d+)$/m.exec(await registry.metrics())?.[1]);
  expect(await waiting()).toBeGreaterThan(5 * BODY_BYTES);
  for (const socket of sockets) socket.destroy();
  await waitFor(async () => (await waiting()) === 0);
});
