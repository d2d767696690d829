/** Clients that do not read a large response, or do not finish a large request, use a limited amount of memory. */
import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { data, probe } from "../../../helpers/http/probe_routes.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const MIB = 2 ** 20;
const BODY_BYTES = 6 * MIB;
const READERS = 100;

function largeRoutes() {
  // Builds a new body for each request, as an endpoint that lists rows does.
  const make = () => Array.from({ length: BODY_BYTES / 1024 }, (_, n) => `${n}`.padEnd(1024, "x"));
  return [
    probe("GET", "/api/v1/large", () => data(make())),
    probe("POST", "/api/v1/large", () => data(make()), { access: "caller" }),
    probe("GET", "/api/v1/small", () => data("small")),
  ];
}

/** Sends a request without reading the response. */
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

test("100 clients that do not read use little memory, and other clients are still served", async () => {
  await using server = await openListeningApp({ routes: largeRoutes() });
  const other = await server.app.make.person();
  expect((await (await get(server, "/large", other.key)).arrayBuffer()).byteLength).toBeGreaterThan(
    BODY_BYTES,
  );
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const sockets: Socket[] = [];
  while (sockets.length < READERS) {
    sockets.push(...(await Promise.all(Array.from({ length: READERS / 10 }, () => ask(server, "")))));
    await waitFor(() => statuses(server).length === sockets.length + 1);
    // Frees the test's own memory, so that the next requests reuse it.
    Bun.gc(true);
  }
  // Without a limit, memory would grow by 100 times the size of the body.
  expect(process.memoryUsage.rss() - before).toBeLessThan((READERS * BODY_BYTES) / 3);
  // An address may hold 8 MiB of unread responses, which is enough for only one of these 6 MiB responses.
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

test("unread responses of all clients together are limited, and the error suggests what to do", async () => {
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
  // The response to a write is always sent, even if the limit for all readers is reached.
  const written = await get(server, "/large", seventh, "POST");
  expect([written.status, (await written.arrayBuffer()).byteLength > BODY_BYTES]).toEqual([200, true]);
  const { registry } = server.app.deps.metrics;
  const waiting = async () =>
    Number(/^http_large_response_bytes (\d+)$/m.exec(await registry.metrics())?.[1]);
  expect(await waiting()).toBeGreaterThan(5 * BODY_BYTES);
  for (const socket of sockets) socket.destroy();
  await waitFor(async () => (await waiting()) === 0);
});

const STORE = probe("POST", "/api/v1/store", () => data("stored"), {
  access: "public",
  body: Type.Object({ text: Type.String() }, { additionalProperties: false }),
});

/**
 * Sends the beginning of a large body and keeps the connection open. `answer` returns what the server has sent so
 * far.
 */
async function withhold({ port }: ListeningApp, bytes: number, localAddress = "127.0.0.1") {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  let answer = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  const headers = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n`;
  socket.write(`POST /api/v1/store HTTP/1.1\r\n${headers}\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes, " "), resolve));
  return { socket, answer: () => answer };
}

function post({ origin }: ListeningApp, text: string, key?: string): Promise<Response> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const headers = { "content-type": "application/json", ...authorization };
  return fetch(`${origin}/api/v1/store`, { method: "POST", headers, body: JSON.stringify({ text }) });
}

const LARGE = "x".repeat(100_000);

test("large incomplete bodies use little memory, and other clients are still served", async () => {
  await using server = await openListeningApp({ routes: [STORE] });
  const { app } = server;
  const withheld = await Promise.all(Array.from({ length: 30 }, () => withhold(server, MIB - 100)));
  const refused = () => withheld.map(({ answer }) => answer()).filter((text) => text.includes(" 429 "));
  // An address may send 8 MiB of large bodies at once, so eight of these 30 requests are accepted.
  await waitFor(() => refused().length === 22);
  expect(refused()[0]).toContain("8 MiB of your large requests are under way");
  expect(refused()[0]).toMatch(/retry-after: \d/i);
  const used = async () =>
    /^http_large_request_bytes (\d+)$/m.exec(await app.deps.metrics.registry.metrics())?.[1];
  expect(await used()).toBe(String(8 * MIB));
  expect((await post(server, "small")).status).toBe(200);
  expect((await post(server, LARGE)).status).toBe(429);
  const { key } = await app.make.person();
  expect((await post(server, LARGE, key)).status).toBe(200);
  for (const { socket } of withheld) socket.destroy();
  await waitFor(async () => (await used()) === "0");
  expect((await post(server, LARGE)).status).toBe(200);
});

test("anonymous callers with many addresses cannot use up the memory that is reserved for users", async () => {
  await using server = await openListeningApp({ routes: [STORE] });
  const addresses = Array.from({ length: 40 }, (_, n) => `127.0.0.${2 + (n % 5)}`);
  const withheld = await Promise.all(addresses.map((address) => withhold(server, MIB - 100, address)));
  const refused = () => withheld.map(({ answer }) => answer()).filter((text) => text.includes(" 503 "));
  await waitFor(() => refused().length === 24);
  expect(refused()[0]).toContain("16 MiB of large requests are under way");
  const { key } = await server.app.make.person();
  expect([(await post(server, LARGE)).status, (await post(server, LARGE, key)).status]).toEqual([503, 200]);
  for (const { socket } of withheld) socket.destroy();
});

test("a body counts as large only once more than 64 KiB have arrived", async () => {
  await using server = await openListeningApp({ routes: [STORE] });
  const withheld = await Promise.all(Array.from({ length: 30 }, () => withhold(server, 60_000)));
  expect((await post(server, LARGE)).status).toBe(200);
  for (const { socket } of withheld) socket.destroy();
});
