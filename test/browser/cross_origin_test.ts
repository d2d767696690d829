/** The responses that a page of another origin can read in a browser. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openVisit } from "./browser.ts";
import { type Dashboard, openDashboard } from "./dashboard.ts";

let dashboard: Dashboard;
let other: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  dashboard = await openDashboard();
  const headers = { "content-type": "text/html" };
  other = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("<!doctype html><title>x</title>", { headers }),
  });
});
afterAll(async () => {
  await other.stop(true);
  await dashboard[Symbol.asyncDispose]();
});

test("a page from another origin can read public API responses, but can send no credentials and write nothing", async () => {
  const { user } = await dashboard.member();
  const { key } = await dashboard.make.key({ userId: user.id });
  await using visit = await openVisit(dashboard.browser, { origin: `http://127.0.0.1:${other.port}` });
  await visit.page.goto("/");
  interface Options {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    credentials?: "include";
  }
  const read = (path: string, init: Options = {}): Promise<unknown> =>
    visit.page.evaluate(
      ([url, options]) =>
        fetch(url, options).then(
          ({ status, headers }) => [status, headers.get("x-request-id") !== null],
          () => "refused",
        ),
      [`${dashboard.api.url}${path}`, init] as const,
    );
  expect(await read("/api/v1/models?limit=1")).toEqual([200, true]);
  expect(await read("/api/v1/models", { headers: { "x-request-id": "mine" } })).toEqual([200, true]);
  expect(await read("/api/v1/definitions/agent/nothing")).toEqual([404, true]);
  expect(await read("/swagger/json")).toEqual([200, true]);
  expect(await read("/api/v1/models?limit=2", { headers: { authorization: `Bearer ${key}` } })).toBe(
    "refused",
  );
  expect(await read("/api/v1/models?limit=3", { credentials: "include" })).toBe("refused");
  expect(await read("/api/v1/auth/me")).toBe("refused");
  expect(await read("/health/ready")).toBe("refused");
  const write = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  expect(await read("/api/v1/models/cost", write)).toBe("refused");
});
