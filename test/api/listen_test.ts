import { describe, expect, test } from "bun:test";
import { jsonText, reply } from "../../api/http/operation.ts";
import { type ListenOptions, listen, stopListening } from "../../api/listen.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openListeningApp } from "../helpers/http/listening_app.ts";
import { probe, probeRoutes } from "../helpers/http/probe_routes.ts";
import { sendRaw } from "../helpers/network/send_raw.ts";
import { waitFor } from "../helpers/wait_for.ts";

interface Listening extends AsyncDisposable {
  api: TestApp;
  server: ReturnType<typeof listen>;
  url: string;
}

async function openListening(
  probe: Parameters<typeof probeRoutes>[0] = {},
  options: Partial<ListenOptions> = {},
): Promise<Listening> {
  const api = await openTestApp({ routes: probeRoutes(probe) });
  const server = listen(api.app, { host: "127.0.0.1", port: 0, trustProxy: 0, ...options });
  return {
    api,
    server,
    url: `http://127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await api[Symbol.asyncDispose]();
    },
  };
}

/** Headers that a socket adds, or that differ between requests. */
const CHANGING = ["date", "content-length", "transfer-encoding", "connection", "x-request-id"];

function lasting(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => !CHANGING.includes(name) && !/^(x-)?ratelimit/.test(name)),
  );
}

describe("a request over a socket", () => {
  test("gets the same response as from handle()", async () => {
    await using open = await openListening();
    const { key } = await open.api.make.person();
    const authorization = { authorization: `Bearer ${key}` };
    const cases: [string, RequestInit & { headers?: Record<string, string> }][] = [
      ["/api/v1/echo/a", {}],
      ["/api/v1/echo/a/", { headers: authorization }],
      ["/api/v1/%40acme/things/a%401.0.0", {}],
      ["/api/v1/@acme/things/publish", {}],
      ["/api/v1/echo/a%2", {}],
      ["/api/v1/nowhere", {}],
      ["/api/v1/caller", {}],
      ["/api/v1/caller", { headers: { authorization: "Basic eA==" } }],
      ["/api/v1/things", { method: "PUT" }],
      ["/api/v1/things", { method: "POST", headers: authorization, body: "{" }],
      ["/api/v1/things?limit=x", {}],
      ["/api/v1/stream/whole", {}],
      ["/api/v1/echo/short-host", { headers: { host: "db" } }],
    ];
    for (const [path, init] of cases) {
      const [near, far] = [
        await open.api.app.handle(new Request(`http://localhost${path}`, init), "127.0.0.1"),
        await fetch(`${open.url}${path}`, init),
      ];
      expect([path, far.status, lasting(far.headers)]).toEqual([path, near.status, lasting(near.headers)]);
      const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, "");
      expect(withoutId(await far.text())).toBe(withoutId(await near.text()));
    }
  });

  test("is logged with the address of its connection, whatever X-Forwarded-For says", async () => {
    await using open = await openListening();
    await fetch(`${open.url}/api/v1/echo/a`, { headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(open.api.logLines).toMatchObject([{ address: "127.0.0.1" }]);
  });

  test("is logged with the last address in X-Forwarded-For behind a trusted proxy", async () => {
    await using open = await openListening({}, { trustProxy: 1 });
    for (const [given, address] of [
      ["203.0.113.9, 198.51.100.7", "198.51.100.7"],
      ["::ffff:198.51.100.7", "198.51.100.7"],
      ["", "127.0.0.1"],
    ] as const) {
      await fetch(`${open.url}/api/v1/echo/a`, { headers: { "x-forwarded-for": given } });
      expect(open.api.logLines.at(-1)).toMatchObject({ address });
    }
  });

  test("with HEAD returns the Content-Length of GET, if GET has one", async () => {
    const streams = { cancelled: 0 };
    await using open = await openListening({ streams });
    const whole = await fetch(`${open.url}/api/v1/echo/a`, { method: "HEAD" });
    expect(whole.headers.get("content-length")).toBe(String('{"data":{"name":"a"}}'.length));
    const stream = await fetch(`${open.url}/api/v1/stream/endless`, { method: "HEAD" });
    expect([stream.status, stream.headers.get("content-length"), await stream.text()]).toEqual([
      200,
      null,
      "",
    ]);
    expect(streams.cancelled).toBe(1);
  });

  test("with a body that is too large gets our own 413 response", async () => {
    await using open = await openListening();
    const { key } = await open.api.make.person();
    const response = await fetch(`${open.url}/api/v1/things`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: new Uint8Array(3_000_000),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  test("with an invalid Host header returns 400, and a fragment in its URL is ignored", async () => {
    await using open = await openListening();
    const send = (path: string, host: string) =>
      sendRaw(open.server.port ?? 0, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    for (const host of ["%%%", "a b", "a:99999", "[", "a".repeat(301)]) {
      expect(await send("/api/v1/echo/a", host)).toMatch(/^HTTP\/1\.1 400 .*"VALIDATION_ERROR"/s);
    }
    expect(await send("/api/v1/things?format=csv#x", "db")).toEndWith('{"data":{"format":"csv"}}');
    expect(await send("//api/v1/echo/a", "db")).toStartWith("HTTP/1.1 404 ");
  });
});

test("an HTTP/1.0 request needs no Host header, because load balancers' health checks send none", async () => {
  await using open = await openListeningApp();
  const { key } = await open.app.make.person();
  const send = (text: string) => sendRaw(open.port, `${text}\r\n\r\n`);
  for (const [path, content] of [
    ["/health/live", '"status":"live"'],
    ["/health/ready", '"status":"ready"'],
    ["/metrics", "# HELP http_request_duration_seconds "],
    ["/api/v1/models?limit=1", '"models":[]'],
    ["/dashboard/sign-in", "<!doctype html>"],
  ] as const) {
    for (const host of ["", "\r\nHost:"]) {
      const received = await send(`GET ${path} HTTP/1.0${host}`);
      expect([path, received]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 /)]);
      expect(received).toContain(content);
    }
    expect(await send(`HEAD ${path} HTTP/1.0`)).toStartWith("HTTP/1.1 200 ");
  }
  const write = [
    "POST /api/v1/users/batch HTTP/1.0",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    "Content-Length: 2",
  ];
  expect(await send(`${write.join("\r\n")}\r\n\r\n{}`)).toStartWith("HTTP/1.1 422 ");
  for (const path of ["//health/live", "/api/v1/nowhere"]) {
    const received = await send(`GET ${path} HTTP/1.0\r\nAccept: text/html`);
    expect([path, received]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 404 /)]);
  }
  expect(await send("GET /api/v1/nowhere HTTP/1.0\r\nAccept: text/html")).toContain('"code":"NOT_FOUND"');
});

test("an export's connection has no timeout and is closed after the response, while other connections are kept", async () => {
  await using live = await openListeningApp();
  const { key, org, user } = await live.app.make.person();
  const { id } = await live.app.make.project({ orgId: org.id, ownerId: user.id });
  const path = `/api/v1/export/projects/${id}`;
  const head = `HTTP/1.1\r\nHost: db\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const ask = (file: string) => sendRaw(live.port, `GET ${path}/${file} ${head}`);
  let isKept = true;
  void ask("estimate").then(() => {
    isKept = false;
  });
  await waitFor(() => live.app.logLines.length === 1);
  expect(await ask("issues")).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
  // `nothing` is not a dataset, but its path has the same route.
  expect(await ask("nothing")).toMatch(/^HTTP\/1\.1 404 .*\r\nConnection: close\r\n/s);
  expect(live.app.logLines[0]).toMatchObject({ status: 200 });
  expect(isKept).toBe(true);
});

describe("a stream over a socket", () => {
  test("breaks its connection when it fails", async () => {
    await using open = await openListening();
    const response = await fetch(`${open.url}/api/v1/stream/fail`);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    await waitFor(() => open.api.logLines.length === 1);
    expect(open.api.logLines).toMatchObject([{ outcome: "failed", err: { message: expect.any(String) } }]);
  });

  test("ends when its client disconnects", async () => {
    const streams = { cancelled: 0 };
    await using open = await openListening({ streams });
    const client = new AbortController();
    const response = await fetch(`${open.url}/api/v1/stream/endless`, { signal: client.signal });
    await response.body?.getReader().read();
    client.abort();
    await waitFor(() => streams.cancelled === 1 && open.api.logLines.length === 1);
    expect(open.api.logLines).toMatchObject([{ outcome: "aborted" }]);
  });
});

describe("a long response over a socket", () => {
  const text = JSON.stringify({ data: "ü, and so on. ".repeat(1_000_000) });
  const open = () =>
    openListeningApp({
      routes: [probe("GET", "/api/v1/long", () => reply(200, jsonText(text)), { conditional: true })],
    });

  test("states its length, even for HEAD, and reaches a paused reader in full", async () => {
    await using live = await open();
    const url = `${live.origin}/api/v1/long`;
    const head = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
    using download = await beginDownload(url, {});
    const { headers, body, isWhole } = await download.readOn();
    expect([isWhole, body.equals(Buffer.from(text))]).toEqual([true, true]);
    for (const name of ["content-length", "etag"]) expect(headers.get(name)).toBe(head.headers.get(name));
    expect(headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  });

  test("ends when its reader disconnects", async () => {
    await using live = await open();
    for (const _ of [1, 2, 3]) {
      const download = await beginDownload(`${live.origin}/api/v1/long`, {});
      expect(live.pending()).toBe(1);
      download[Symbol.dispose]();
      await waitFor(() => live.pending() === 0);
    }
    expect(live.app.logLines.map(({ status, level }) => [status, level])).toEqual(
      [1, 2, 3].map(() => [200, "info"]),
    );
  });
});

describe("the server", () => {
  test("stops once running requests have ended", async () => {
    const { promise: wait, resolve: letGo } = Promise.withResolvers<void>();
    await using open = await openListening({ wait });
    const running = fetch(`${open.url}/api/v1/wait`);
    await waitFor(() => open.server.pendingRequests === 1);
    let hasStopped = false;
    const stopped = stopListening(open.server).then(() => {
      hasStopped = true;
    });
    await waitFor(() =>
      fetch(`${open.url}/api/v1/echo/a`)
        .then(() => false)
        .catch(() => true),
    );
    expect(hasStopped).toBe(false);
    letGo();
    expect((await running).status).toBe(200);
    await stopped;
  });

  test("stops even if the event loop is always busy", async () => {
    await using open = await openListening();
    let isBusy = true;
    const work = () => {
      for (const until = performance.now() + 1; performance.now() < until; );
      if (isBusy) setImmediate(work);
    };
    work();
    await stopListening(open.server);
    isBusy = false;
    await expect(fetch(`${open.url}/api/v1/echo/a`)).rejects.toThrow();
  });

  test("does not share a port that another server uses", async () => {
    await using open = await openListening();
    const { port = 0 } = open.server;
    const error = (() => {
      try {
        return listen(open.api.app, { host: "127.0.0.1", port, trustProxy: 0 });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: "EADDRINUSE" });
  });
});
