/**
 * The requests that nginx forwards with the shipped nginx.conf, and nginx's own responses, with a real nginx in front of one
 * process.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import { ACCOUNT_MAILS } from "../../shared/account_mail_kinds.ts";
import { makeNoiseFile } from "../helpers/exports/noise_file.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { type ListeningApp, openListeningApp } from "../helpers/http/listening_app.ts";
import { loadBundledCatalog } from "../helpers/models/catalog.ts";
import { makeAuthority, makeServerCertificate } from "../helpers/network/certificates.ts";
import { sendRaw } from "../helpers/network/send_raw.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type Nginx, startNginx } from "./nginx.ts";

let app: ListeningApp;
let nginx: Nginx;

beforeAll(async () => {
  app = await openListeningApp({ config: { rateLimitAnonymousPerMinute: 10_000 } });
  const api = `127.0.0.1:${app.port}`;
  nginx = await startNginx({ address: "127.0.0.1", prefix: [] }, [api, api]);
});

afterAll(async () => {
  await nginx?.[Symbol.asyncDispose]();
  await app?.[Symbol.asyncDispose]();
});

const send = (text: string, drip?: string) => sendRaw(Number(new URL(nginx.url).port), text, drip);

/** Sends the request line unchanged, because `fetch` would normalize it. */
const ask = (target: string, method = "GET") =>
  send(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

test("clients cannot read metrics or health checks under any spelling of the path", async () => {
  const own = (path: string) => fetch(`${app.origin}${path}`).then(({ status }) => status);
  expect([await own("/metrics"), await own("/health/live"), await own("/health/ready")]).toEqual([
    200, 200, 200,
  ]);
  const targets = [
    "/metrics",
    "/metrics/",
    "/metrics?x=1",
    "/%6Detrics",
    "/METRICS",
    "//metrics",
    "/x/../metrics",
    "http://x/metrics",
  ];
  const odd = [
    "/x/%2e%2e/metrics",
    "/./metrics",
    "/metrics#x",
    "/metrics\\",
    "/x\\..\\metrics",
    "/\\metrics",
  ];
  const health = [
    "/health/live",
    "/health/ready",
    "/health",
    "/health/live/",
    "/x/..\\health/live",
    "/health\\live",
  ];
  for (const target of [...targets, ...odd, ...health]) {
    const answer = await ask(target);
    expect([target, answer]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 (400|404) /)]);
    expect(answer).not.toContain("process_");
  }
});

const PAGES_WITH_TOKEN = Object.values(ACCOUNT_MAILS).flatMap(({ link }) => (link ? [link.page] : []));

/** Returns the paths of links in mails, and of pages that contain such a link in their query. */
function targetsWithToken(): string[] {
  const next = encodeURIComponent("/invitation?token=S3cret-token");
  const repeated = ["/sign-in", "/dashboard/sign-in", "/sign-up"].map((page) => `${page}?next=${next}`);
  return [...PAGES_WITH_TOKEN.map((page) => `${page}?token=S3cret-token`), ...repeated];
}

test("the error log contains no token from links in mails, even if no API responds", async () => {
  const dead = `127.0.0.1:${chooseFreePort("127.0.0.1")}`;
  await using alone = await startNginx({ address: "127.0.0.1", prefix: [] }, [dead, dead]);
  for (const target of [...targetsWithToken(), "/models?q=logged"]) {
    expect([target, (await fetch(`${alone.url}${target}`)).status]).toEqual([target, 502]);
  }
  const log = await waitFor(async () => {
    const text = await alone.readErrorLog();
    return text.includes("/models?q=logged") ? text : null;
  });
  expect(log).not.toContain("S3cret");
});

test("the access log contains no token from links in mails, even if a page's query contains such a link", async () => {
  const pages = PAGES_WITH_TOKEN;
  const targets = targetsWithToken();
  for (const target of targets) await ask(target);
  await ask("/models?q=logged");
  const log = await waitFor(async () => {
    const text = await nginx.readAccessLog();
    return text.includes("/models?q=logged") ? text : null;
  });
  expect(log).not.toContain("S3cret");
  for (const page of [...pages, "/sign-in"]) expect(log).toContain(`"GET ${page}?[redacted] HTTP/1.1"`);
});

test("API, Swagger and dashboard paths are forwarded", async () => {
  const paths = ["/api/v1/models", "/swagger", "/swagger/json", "/dashboard/sign-in", "/api/v1/definitions"];
  for (const path of paths) expect([path, (await fetch(`${nginx.url}${path}`)).status]).toEqual([path, 200]);
});

test("a URL of 13,000 characters is forwarded, and the 200 longest model names fit into a URL", async () => {
  await loadBundledCatalog(app.app.db.sql);
  const rows = await app.app.db.sql<{ name: string }[]>`
    select provider || '/' || model_id as name
    from models
    order by length(provider || model_id) desc
    limit 200`;
  const query = new URLSearchParams(rows.map(({ name }): [string, string] => ["model", name]));
  expect(query.toString().length).toBeGreaterThan(10_000);
  expect((await fetch(`${nginx.url}/api/v1/models/history?${query}`)).status).toBe(200);
  expect(await ask(`/api/v1/users/${"x".repeat(13_500)}`)).toContain('"path":"id"');
});

test("an HTTP/1.0 request without a Host header is forwarded", async () => {
  expect(await send("GET /api/v1/models HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 200 ");
});

test("an incomplete request body gets a 408 as JSON", async () => {
  const post =
    "POST /api/v1/users/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n" +
    "Content-Length: 5000\r\n\r\n{";
  for (const received of await Promise.all([send(post), send(post, " ")])) {
    const [head = "", body = ""] = received.split("\r\n\r\n");
    expect(head).toStartWith("HTTP/1.1 408 ");
    expect(JSON.parse(body)).toMatchObject({ error: { code: "REQUEST_TIMEOUT" } });
  }
});

/** Returns the fields of an error response that clients need. Checks its request ID and content type. */
async function readError(response: Response): Promise<Record<string, unknown>> {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  const { requestId, ...rest } = error;
  expect(String(requestId)).toBe(response.headers.get("x-request-id") ?? "none");
  expect(response.headers.get("content-type")).toStartWith("application/json");
  return { status: response.status, requestId, ...rest };
}

test("/metrics gets the same response as an unknown route", async () => {
  const [metrics, unknown] = await Promise.all(
    ["/metrics", "/no-such-route"].map(async (path) => {
      const response = await fetch(`${nginx.url}${path}`, { headers: { "x-request-id": "one" } });
      return [[...response.headers.keys()].sort(), await readError(response)];
    }),
  );
  expect(metrics).toEqual(unknown);
});

test("nginx also listens on IPv6", async () => {
  const { port } = new URL(nginx.url);
  expect((await fetch(`http://[::1]:${port}/api/v1/models`)).status).toBe(200);
});

test("nginx and the API use the client's request ID, or the same generated ID if it is missing or invalid", async () => {
  const idOf = async (headers: Record<string, string>) =>
    (await fetch(`${nginx.url}/api/v1/models`, { headers })).headers.get("x-request-id");
  expect(await idOf({ "x-request-id": "mine-1.A_b" })).toBe("mine-1.A_b");
  for (const given of ["not valid!", "x".repeat(129)]) {
    expect(await idOf({ "x-request-id": given })).toMatch(/^[0-9a-f]{32}$/);
  }
  const last = app.app.logLines.at(-1);
  expect(last?.["requestId"]).toMatch(/^[0-9a-f]{32}$/);
});

test("nginx's own errors have the API's error format", async () => {
  const large = await fetch(`${nginx.url}/api/v1/users/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "x".repeat(2 * 2 ** 20 + 1),
  });
  expect(await readError(large)).toMatchObject({
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    details: { maxSize: 1_048_576 },
  });
  for (const method of ["TRACE", "AAAA", "A".repeat(300)]) {
    const [head = "", body = ""] = (await ask("/", method)).split("\r\n\r\n");
    expect([method, head.split("\r\n")[0]]).toEqual([method, "HTTP/1.1 405 Not Allowed"]);
    expect(head).toContain("\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n");
    expect(JSON.parse(body)).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
  }
  const refusals = [await ask("/x\\y"), await ask(`/${"x".repeat(40_000)}`)];
  for (const refusal of refusals) {
    const [head = "", body = ""] = refusal.split("\r\n\r\n");
    expect(head).toStartWith("HTTP/1.1 400 ");
    expect(JSON.parse(body)).toMatchObject({
      error: { code: "VALIDATION_ERROR", requestId: expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
  }
});

test("clients cannot request nginx's internal error page", async () => {
  expect(await readError(await fetch(`${nginx.url}/nginx-error`))).toMatchObject({
    status: 404,
    code: "NOT_FOUND",
    details: { reason: "route" },
  });
});

test("if no API responds, clients get a JSON error that tells them to check whether a write was applied", async () => {
  const dead = `127.0.0.1:${chooseFreePort("127.0.0.1")}`;
  await using alone = await startNginx({ address: "127.0.0.1", prefix: [] }, [dead, dead]);
  for (const path of ["/api/v1/models", "/api/v1/export/datasets", "/metrics"]) {
    const response = await fetch(`${alone.url}${path}`, { headers: { "x-request-id": "mine" } });
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await readError(response)).toEqual({
      status: 502,
      requestId: "mine",
      code: "SERVICE_UNAVAILABLE",
      message: "The service did not respond. Check whether a write was applied before you retry it.",
    });
  }
});

test("nginx resets a download that the client stops reading, and the API logs the download as aborted", async () => {
  await using server = await openListeningApp();
  const file = await makeNoiseFile(server);
  const api = `127.0.0.1:${server.port}`;
  const host = { address: "127.0.0.1", prefix: [] };
  await using impatient = await startNginx(host, [api, api], (site) =>
    site.replace("send_timeout 10m;", "send_timeout 1s;"),
  );
  const url = `${impatient.url}/api/v1/export/jobs/${file.id}/download`;
  const requestId = crypto.randomUUID();
  const headers = { authorization: `Bearer ${file.person.key}`, "x-request-id": requestId };
  using download = await beginDownload(url, headers);
  await waitFor(async () => !(await download.isHeld()));
  const logged = await waitFor(() => server.app.logLines.find((line) => line["requestId"] === requestId));
  expect(logged).toMatchObject({ status: 200, outcome: "aborted" });
});

test("port 80 only redirects to HTTPS, and every HTTPS response, even nginx's errors, sets HSTS for a year", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-https-"));
  try {
    const authority = await makeAuthority(directory, "nginx");
    const certificate = await makeServerCertificate(authority, "IP:127.0.0.1");
    const api = `127.0.0.1:${app.port}`;
    const host = { address: "127.0.0.1", prefix: [] };
    await using site = await startNginx(host, [api, api], undefined, certificate);
    for (const [method, path] of [
      ["GET", "/dashboard?tab=1"],
      ["POST", "/api/v1/auth/login"],
      ["GET", "/metrics"],
      ["GET", "/nginx-error"],
    ] as const) {
      const response = await fetch(`${site.clearUrl}${path}`, { method, redirect: "manual" });
      expect([path, response.status, response.headers.get("location")]).toEqual([
        path,
        308,
        `https://127.0.0.1${path}`,
      ]);
    }
    const challenge = await fetch(`${site.clearUrl}/.well-known/acme-challenge/none`, { redirect: "manual" });
    expect(challenge.status).toBe(404);
    const tls = { ca: await Bun.file(authority).text() };
    for (const [path, status] of [
      ["/api/v1/models/providers", 200],
      ["/metrics", 404],
      [`/${"x".repeat(40_000)}`, 400],
    ] as const) {
      const response = await fetch(`${site.url}${path}`, { tls, redirect: "manual" });
      const hsts = response.headers.get("strict-transport-security");
      expect([path.slice(0, 30), hsts]).toEqual([path.slice(0, 30), "max-age=31536000"]);
      expect(response.status).toBe(status);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("the site is the default for unknown host names, and nginx rejects a second default site", async () => {
  const api = `127.0.0.1:${app.port}`;
  const host = { address: "127.0.0.1", prefix: [] };
  // Without a default server, nginx uses the first server of a port.
  const other = "server { listen 80; listen 443 ssl; server_name other.example; return 204; }";
  await using site = await startNginx(host, [api, api], (text) => `${other}\n${text}`);
  const redirect = await fetch(`${site.clearUrl}/dashboard`, { redirect: "manual" });
  expect([redirect.status, (await fetch(`${site.url}/api/v1/models/providers`)).status]).toEqual([308, 200]);

  const standard = "server { listen 80 default_server; root /var/www/html; }";
  const failing = startNginx(host, [api, api], (text) => `${standard}\n${text}`);
  await expect(failing).rejects.toThrow("duplicate default server");
});
