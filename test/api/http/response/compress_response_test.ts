import { describe, expect, spyOn, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import { jsonText, reply } from "../../../../api/http/operation.ts";
import { openTestApp, type TestApp, testRequest } from "../../../helpers/http/app.ts";
import { probe } from "../../../helpers/http/probe_routes.ts";
import { loadBundledCatalog } from "../../../helpers/models/catalog.ts";

const LONG = { data: Array.from({ length: 500 }, (_, n) => ({ name: `entry ${n}`, text: "a text, ü" })) };
const SHORT = { data: "short" };

/** Returns routes with long and short responses, with and without an ETag. */
function textRoutes() {
  const text = (value: object) => reply(200, jsonText(JSON.stringify(value)));
  const tagged = { conditional: true } as const;
  return [
    probe("GET", "/api/v1/long", () => text(LONG), tagged),
    probe("GET", "/api/v1/short", () => text(SHORT), tagged),
    probe("GET", "/api/v1/of/{name}", () => text(LONG), { ...tagged, params: ["name"] }),
    probe("GET", "/api/v1/plain", () => text(LONG)),
    probe("POST", "/api/v1/plain", () => text(LONG), { access: "caller" }),
  ];
}

async function get(app: TestApp, path: string, headers: Record<string, string> = {}, method = "GET") {
  // Does not use `app.request`, because it cannot check compressed JSON.
  const request = testRequest(`http://localhost/api/v1${path}`, { method, headers });
  const response = await app.app.handle(request, "192.0.2.1");
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.bytes()) };
}

describe("a response", () => {
  test("uses the client's preferred encoding and names the encoding", async () => {
    await using app = await openTestApp({ routes: textRoutes() });
    const plain = Buffer.from(JSON.stringify(LONG));
    for (const [accepted, encoding, decode] of [
      ["gzip", "gzip", gunzipSync],
      ["gzip, deflate, br, zstd", "zstd", zstdDecompressSync],
      ["gzip;q=1, zstd;q=0.5", "gzip", gunzipSync],
      ["*", "gzip", gunzipSync],
      ["*, zstd;q=0.5", "gzip", gunzipSync],
      ["*;q=0.5, zstd", "zstd", zstdDecompressSync],
    ] as const) {
      for (const path of ["/long", "/plain"]) {
        const { status, headers, body } = await get(app, path, { "accept-encoding": accepted });
        expect([status, headers.get("content-encoding")]).toEqual([200, encoding]);
        expect(headers.get("vary")).toContain("Accept-Encoding");
        expect(headers.get("content-type")).toStartWith("application/json");
        expect(decode(body).equals(plain)).toBe(true);
        expect(body.length).toBeLessThan(plain.length / 4);
      }
    }
    for (const accepted of [
      "identity",
      "br",
      "gzip;q=0, zstd;q=0",
      "*, gzip;q=0",
      "gzip;q=0.1, identity",
      "",
    ]) {
      const { headers, body } = await get(app, "/long", { "accept-encoding": accepted });
      expect([headers.get("content-encoding"), body.equals(plain)]).toEqual([null, true]);
    }
  });

  test("to a write is compressed, but a short response is not", async () => {
    await using app = await openTestApp({ routes: textRoutes() });
    const { key } = await app.make.person();
    const headers = { "accept-encoding": "gzip" };
    const written = await app.request("/api/v1/plain", { method: "POST", key, headers });
    expect([written.headers.get("content-encoding"), written.headers.get("cache-control")]).toEqual([
      "gzip",
      "no-store",
    ]);
    const short = await get(app, "/short", headers);
    expect([short.headers.get("content-encoding"), short.body.toString()]).toEqual([
      null,
      JSON.stringify(SHORT),
    ]);
  });

  test("has a separate strong ETag per encoding, and returns 304 only for that encoding's ETag", async () => {
    await using app = await openTestApp({ routes: textRoutes() });
    const accepted = ["identity", "gzip", "zstd"];
    const tags: string[] = [];
    for (const encoding of accepted) {
      const { headers } = await get(app, "/long", { "accept-encoding": encoding });
      expect(headers.get("vary")).toContain("Accept-Encoding");
      expect(headers.get("etag")).toMatch(/^"[\w-]+"$/);
      tags.push(headers.get("etag") ?? "");
    }
    expect(new Set(tags).size).toBe(3);
    for (const [index, encoding] of accepted.entries()) {
      for (const known of tags) {
        const answer = await get(app, "/long", { "accept-encoding": encoding, "if-none-match": known });
        const tag = tags[index] ?? "";
        expect([encoding, answer.status, answer.headers.get("etag")]).toEqual([
          encoding,
          known === tag ? 304 : 200,
          tag,
        ]);
        expect(answer.body.length === 0).toBe(known === tag);
      }
    }
  });

  test("to HEAD has the headers of the GET response", async () => {
    await using app = await openTestApp({ routes: textRoutes() });
    for (const path of ["/long", "/short", "/plain"]) {
      const sent = { "accept-encoding": "zstd" };
      const whole = await get(app, path, sent);
      const head = await get(app, path, sent, "HEAD");
      for (const name of ["etag", "content-encoding", "vary", "content-type"]) {
        expect([path, name, head.headers.get(name)]).toEqual([path, name, whole.headers.get(name)]);
      }
      expect([head.status, head.body.length, head.headers.get("content-length")]).toEqual([
        200,
        0,
        String(whole.body.length),
      ]);
    }
  });
});

test("a response is compressed only once for all Host headers and all spellings of the path", async () => {
  await using app = await openTestApp({ routes: textRoutes() });
  const set = spyOn(LRUCache.prototype, "set");
  try {
    for (const url of [
      "http://localhost/api/v1/of/me",
      "http://one.example/api/v1/of/me",
      "http://localhost/api/v1/of/m%65",
      "http://localhost/api/v1/of/me/",
      "http://localhost/api/v1/of/me?",
    ]) {
      const request = testRequest(url, { headers: { "accept-encoding": "zstd" } });
      const { status, headers } = await app.app.handle(request, "192.0.2.1");
      expect([url, status, headers.get("content-encoding")]).toEqual([url, 200, "zstd"]);
    }
    const kept = set.mock.calls.filter(([key]) => String(key).includes('-zstd"'));
    expect(kept.length).toBe(1);
  } finally {
    set.mockRestore();
  }
});

test("lists of the model catalog are compressed as JSON and CSV, on the first and later requests", async () => {
  await using app = await openTestApp();
  await loadBundledCatalog(app.db.sql);
  for (const query of ["?limit=200", "?limit=200&offset=200", "?format=csv"]) {
    const plain = await get(app, `/models${query}`);
    for (const _ of ["made", "kept"]) {
      const { headers, body } = await get(app, `/models${query}`, { "accept-encoding": "gzip" });
      expect([headers.get("content-encoding"), gunzipSync(body).equals(plain.body)]).toEqual(["gzip", true]);
    }
  }
});
