/** Clients that violate HTTP or its time limits, over a real socket, byte by byte. */
import { describe, expect, test } from "bun:test";
import { type ListenOptions, listen } from "../../../api/listen.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "../../helpers/http/app.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";
import { sendRaw } from "../../helpers/network/send_raw.ts";

async function openSlow(
  options: Partial<ListenOptions>,
  appOptions: TestAppOptions = { routes: probeRoutes() },
) {
  const api: TestApp = await openTestApp(appOptions);
  const server = listen(api.app, { host: "127.0.0.1", port: 0, trustProxy: 0, ...options });
  return {
    api,
    port: server.port ?? 0,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await api[Symbol.asyncDispose]();
    },
  };
}

describe("a client that is slow", () => {
  // These tests wait for a timeout, so they run concurrently.
  test.concurrent("to send its headers or its body is disconnected, and nothing is logged as an error", async () => {
    await using open = await openSlow({ idleTimeoutSeconds: 4 });
    const { key } = await open.api.make.person();
    const post = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n` +
      `Authorization: Bearer ${key}\r\n\r\n{`;
    const ended = await Promise.all([
      sendRaw(open.port, ""),
      sendRaw(open.port, "GET / HTTP/1.1\r\nHost: x\r\n"),
      sendRaw(open.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a"),
      sendRaw(open.port, post("/api/v1/things")),
      sendRaw(open.port, post("/api/v1/things"), " "),
      // A request with an export's path only in its query gets no extra time.
      sendRaw(open.port, post("/api/v1/things?of=/api/v1/export/projects/p/issues")),
    ]);
    for (const received of ended) expect(received).not.toStartWith("HTTP/1.1 2");
    expect(open.api.logLines.map(({ level, code }) => [level, code])).toEqual([
      ["info", "VALIDATION_ERROR"],
      ["info", "VALIDATION_ERROR"],
      ["info", "VALIDATION_ERROR"],
    ]);
  });

  test.concurrent("is disconnected when idle after a page that checks an export but does not send it", async () => {
    // Bun checks sockets every four seconds. With a timeout of four seconds, a busy machine could not respond in time.
    await using open = await openSlow({ idleTimeoutSeconds: 8 }, {});
    const { user, org } = await open.api.make.person();
    const project = await open.api.make.project({ orgId: org.id, ownerId: user.id });
    const { token } = await open.api.make.session({ userId: user.id });
    const path = `/dashboard/exports/projects/${project.id}/file?dataset=issues`;
    const received = await sendRaw(
      open.port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: ulr_session=${token}\r\n\r\n`,
    );
    expect(received).toStartWith("HTTP/1.1 303 ");
    expect(received).not.toContain("Connection: close");
  });
});

test.concurrent("a body that does not arrive in time returns 408 as JSON before the connection is closed", async () => {
  await using open = await openListeningApp();
  const { key } = await open.app.make.person();
  const post = (path: string, headers: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}Authorization: Bearer ${key}\r\n\r\n`;
  const sized = "Content-Length: 5000\r\n";
  const ended = await Promise.all([
    sendRaw(open.port, `${post("/api/v1/users/batch", sized)}{`),
    sendRaw(open.port, `${post("/api/v1/users/batch", sized)}{`, " "),
    sendRaw(open.port, post("/api/v1/users/batch", "Transfer-Encoding: chunked\r\n"), "1\r\n{\r\n"),
    sendRaw(open.port, post("/api/v1/definitions/agent/x", sized)),
    sendRaw(open.port, post("/api/v1/auth/login", sized.replace("5000", "100"))),
  ]);
  for (const received of ended) {
    const [head = "", body = ""] = received.split("\r\n\r\n");
    expect(head).toStartWith("HTTP/1.1 408 Request Timeout\r\n");
    expect(head).toContain("\r\nConnection: close\r\n");
    expect(JSON.parse(body)).toEqual({
      error: {
        code: "REQUEST_TIMEOUT",
        message: "The body did not arrive within 30 s. Nothing was written. Send the request again.",
        requestId: expect.any(String),
      },
    });
  }
  expect(open.app.logLines.map(({ level, code }) => [level, code])).toEqual(
    ended.map(() => ["info", "REQUEST_TIMEOUT"]),
  );
});

describe("an oversized request", () => {
  test("with a long URL or long headers returns 431, but a shorter URL reaches its route", async () => {
    await using open = await openListeningApp();
    const close = "Connection: close\r\n\r\n";
    const long = "a".repeat(20_000);
    for (const text of [
      `GET /${long} HTTP/1.1\r\nHost: x\r\n${close}`,
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${long}\r\n${close}`,
      `GET / HTTP/1.1\r\nHost: x\r\n${"X-Many: b\r\n".repeat(1000)}${close}`,
    ]) {
      const received = await sendRaw(open.port, text);
      expect(received).toStartWith("HTTP/1.1 431 ");
      expect(received.length).toBeLessThan(200);
    }
    const below = `GET /api/v1/users/${"a".repeat(8000)} HTTP/1.1\r\nHost: x\r\n${close}`;
    expect(await sendRaw(open.port, below)).toStartWith("HTTP/1.1 400 ");
  });
});

describe("a malformed request", () => {
  test("is rejected without naming the server software", async () => {
    await using open = await openListeningApp();
    const refused = [
      "\0\0\0\0\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
      "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nX-Nul: a\0b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
      "POST /api/v1/users/batch HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
      "POST /api/v1/users/batch HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
      "POST /api/v1/users/batch HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    ];
    for (const text of refused) {
      const received = await sendRaw(open.port, text);
      expect([text, received]).toEqual([text, expect.stringMatching(/^(HTTP\/1\.1 (4\d\d|505) |$)/)]);
      expect(received).not.toMatch(/bun|server:|\.ts|\bat /i);
    }
    expect((await fetch(`${open.origin}/health/live`)).status).toBe(200);
  });

  test("with invalid bytes in valid HTTP gets our own error response", async () => {
    await using open = await openListeningApp();
    const head = "Host: x\r\nConnection: close\r\nContent-Type: application/json\r\n";
    const surrogate = Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]);
    const post = Buffer.concat([
      Buffer.from(`POST /api/v1/users/batch HTTP/1.1\r\n${head}Content-Length: ${surrogate.length}\r\n\r\n`),
      surrogate,
    ]);
    const path = Buffer.from(`GET /api/v1/users/\xff\xfe HTTP/1.1\r\n${head}\r\n`, "latin1");
    const header = Buffer.from(`GET /api/v1/orgs HTTP/1.1\r\n${head}Authorization: \xff\r\n\r\n`, "latin1");
    for (const [bytes, status] of [
      [post, 400],
      [path, 400],
      [header, 401],
    ] as const) {
      const received = await sendRaw(open.port, bytes);
      expect(received).toMatch(
        new RegExp(`^HTTP/1.1 ${status} .*"code":"(VALIDATION_ERROR|UNAUTHORIZED)"`, "s"),
      );
    }
  });
});

describe("security headers", () => {
  test("include nosniff on every response and a strict Content-Security-Policy on every page", async () => {
    await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
    for (const { pattern, method } of api.app.routes) {
      const address = pattern.replaceAll(/:\w+|\*/g, "x");
      const { headers } = await api.request(address, { method });
      expect([address, headers.get("x-content-type-options")]).toEqual([address, "nosniff"]);
      for (const name of ["server", "x-powered-by"]) expect(headers.get(name)).toBeNull();
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
    }
  });
});
