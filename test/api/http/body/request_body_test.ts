import { describe, expect, test } from "bun:test";
import { MAX_CHUNKS } from "../../../../api/http/body/request_body.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { probeRoutes } from "../../../helpers/http/probe_routes.ts";

const MAX_BYTES = 1_048_576;
const JSON_TYPE = { "content-type": "application/json" };

/** Returns a valid body of exactly `size` bytes. */
function bodyOf(size: number): string {
  const empty = JSON.stringify({ name: "", size: 1 });
  return JSON.stringify({ name: "a".repeat(size - empty.length), size: 1 });
}

async function openWithKey(): Promise<{ api: TestApp; key: string }> {
  const api = await openTestApp({ routes: probeRoutes() });
  return { api, key: (await api.make.person()).key };
}

describe("a body", () => {
  test("of 1 MiB is read, but one byte more returns 413", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    const send = (body: string) =>
      api.request("/api/v1/things", { key, method: "POST", headers: JSON_TYPE, body });
    expect((await send(bodyOf(MAX_BYTES))).status).toBe(200);
    const refused = await send(bodyOf(MAX_BYTES + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error: { code: "PAYLOAD_TOO_LARGE", details: { maxSize: MAX_BYTES } },
    });
  });

  test("without a length is read only until it exceeds the limit, and returns 413", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const request = new Request("http://localhost/api/v1/things", {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
      body: endless,
    });
    expect((await api.app.handle(request, "192.0.2.1")).status).toBe(413);
    expect(sent).toBeLessThan(2 * MAX_BYTES);
  });

  test("that is not JSON or not UTF-8 returns 400", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    for (const body of ["{", '{"name":', "name=a", Buffer.from([0x22, 0xff, 0x22]).toString("latin1")]) {
      const bytes = Buffer.from(body, "latin1");
      const request = new Request("http://localhost/api/v1/things/publish", {
        method: "POST",
        headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
        body: bytes,
      });
      const response = await api.app.handle(request, "192.0.2.1");
      expect([body, response.status]).toEqual([body, 400]);
      expect(await response.json()).toMatchObject({
        error: { code: "VALIDATION_ERROR", details: { errors: [{ path: "" }] } },
      });
    }
  });

  test("may start with a byte order mark, and the last of several duplicate keys wins", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    const body = '\uFEFF{"name":"first","size":1,"name":"last"}';
    const response = await api.request("/api/v1/things", { key, method: "POST", headers: JSON_TYPE, body });
    expect([response.status, await response.json()]).toEqual([200, { data: { name: "last", size: 1 } }]);
  });

  test("with the keys __proto__ and constructor returns 400 and does not change Object.prototype", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    const body =
      '{"name":"a","size":1,"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}';
    const response = await api.request("/api/v1/things", { key, method: "POST", headers: JSON_TYPE, body });
    expect(response.status).toBe(400);
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
  });

  test("with another media type or with compression returns 415", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    const body = JSON.stringify({ name: "a", size: 1 });
    for (const headers of [
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "content-type": "multipart/form-data; boundary=x" },
      { "content-type": "application/jsonp" },
      { ...JSON_TYPE, "content-encoding": "gzip" },
    ]) {
      const response = await api.request("/api/v1/things", { key, method: "POST", headers, body });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
    }
  });

  test("is read as JSON if its media type is in any case or has parameters", async () => {
    const { api, key } = await openWithKey();
    await using _ = api;
    for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
      const headers = { "content-type": type };
      const body = JSON.stringify({ name: "ü🦊", size: 1 });
      const response = await api.request("/api/v1/things", { key, method: "POST", headers, body });
      expect(await response.json()).toEqual({ data: { name: "ü🦊", size: 1 } });
    }
  });
});

test("a body in tiny chunks is read only up to a maximum number of chunks", async () => {
  const { api, key } = await openWithKey();
  await using _ = api;
  for (const [chunks, status, most] of [
    [MAX_CHUNKS, 200, MAX_CHUNKS],
    [MAX_BYTES, 400, MAX_CHUNKS + 2],
  ] as const) {
    const bytes = Buffer.from(bodyOf(chunks));
    let sent = 0;
    const chopped = new ReadableStream({
      pull(controller) {
        if (sent === chunks) return controller.close();
        controller.enqueue(bytes.subarray(sent, sent + 1));
        sent += 1;
      },
    });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
    const request = new Request("http://localhost/api/v1/things", { method: "POST", headers, body: chopped });
    const response = await api.app.handle(request, "192.0.2.1");
    expect([response.status, sent <= most]).toEqual([status, true]);
    if (status === 400) expect(await response.text()).toContain(`more than ${MAX_CHUNKS} chunks`);
  }
});

test("a missing body, an empty body and {} are equivalent if no field is required", async () => {
  const { api, key } = await openWithKey();
  await using _ = api;
  const send = (options: object) =>
    api.request("/api/v1/things/publish", { key, method: "POST", ...options });
  for (const [options, data] of [
    [{}, {}],
    [{ headers: JSON_TYPE }, {}],
    [{ headers: JSON_TYPE, body: "" }, {}],
    [{ body: {} }, {}],
    [{ body: { force: true } }, { force: true }],
  ] as const) {
    const response = await send(options);
    expect([response.status, await response.json()]).toEqual([200, { data }]);
  }
  const deleted = await api.request("/api/v1/things", {
    key,
    method: "DELETE",
    headers: JSON_TYPE,
    body: "",
  });
  expect(deleted.status).toBe(200);
});
