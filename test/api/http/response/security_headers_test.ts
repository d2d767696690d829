import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { openListeningApp } from "../../../helpers/http/listening_app.ts";

const NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'";
const PAGES = ["/swagger", "/", "/definitions", "/models", "/dashboard/sign-in"];

async function headersOf(api: TestApp, path: string, options = {}): Promise<Headers> {
  const accept = PAGES.includes(path) ? { headers: { accept: "text/html" } } : {};
  const response = await api.request(path, { ...accept, ...options });
  await response.body?.cancel();
  return response.headers;
}

describe("security headers", () => {
  test("keep responses other than pages from loading anything, whatever the type and status", async () => {
    await using api = await openTestApp();
    const { key } = await api.make.person();
    for (const [path, options] of [
      ["/api/v1/models", {}],
      ["/api/v1/models?format=csv", {}],
      ["/api/v1/auth/me", { key }],
      ["/api/v1/auth/me", {}],
      ["/api/v1/nowhere", {}],
      ["/api/v1/models", { method: "PUT" }],
      ["/api/v1/models", { method: "HEAD" }],
      ["/health/live", {}],
      ["/metrics", {}],
      ["/swagger/json", {}],
    ] as const) {
      const policy = (await headersOf(api, path, options)).get("content-security-policy");
      expect([path, policy]).toEqual([path, NO_PAGE_POLICY]);
    }
  });

  test("isolate pages from other pages and from the machine's devices", async () => {
    await using api = await openTestApp();
    for (const path of PAGES) {
      const headers = await headersOf(api, path);
      expect(headers.get("content-security-policy")).toContain("script-src 'self'");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("permissions-policy")).toContain("camera=()");
    }
  });

  test("make browsers use https only if PUBLIC_URL uses https", async () => {
    await using plain = await openTestApp();
    await using secure = await openTestApp({ config: { publicUrl: "https://ulr.example" } });
    for (const path of [...PAGES, "/api/v1/models", "/api/v1/nowhere", "/health/live"]) {
      expect((await headersOf(plain, path)).get("strict-transport-security")).toBeNull();
      expect((await headersOf(secure, path)).get("strict-transport-security")).toBe("max-age=63072000");
    }
  });
});

test("a request with two Host headers is refused", async () => {
  await using open = await openListeningApp();
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  await Bun.connect({
    hostname: "127.0.0.1",
    port: open.port,
    socket: {
      open(socket) {
        socket.write("GET /health/live HTTP/1.1\r\nHost: one\r\nHost: two\r\nConnection: close\r\n\r\n");
      },
      data: (_, data) => {
        received += data.toString();
      },
      close: () => resolve(received),
    },
  });
  expect(await promise).toMatch(/^HTTP\/1.1 400 .*"code":"VALIDATION_ERROR".*Host header/s);
});
