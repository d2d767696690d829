import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type LoadedSource, openSource, type SourceOptions } from "../../catalog-sync/source.ts";
import { openCatalogServer } from "../helpers/models/catalog_server.ts";

const DOCUMENT = { acme: { models: {} } };
const TEXT = JSON.stringify(DOCUMENT);
const MEBIBYTE = 2 ** 20;

function load(name: string, options: SourceOptions = {}, etag: string | null = null): Promise<LoadedSource> {
  return openSource(name, options).load({ etag, signal: new AbortController().signal });
}

/** Sends `count` MiB of spaces as fast as the client reads, until it disconnects. */
function sendBlanks(response: ServerResponse, count: number): void {
  const chunk = Buffer.alloc(MEBIBYTE, " ");
  let sent = 0;
  const send = (): void => {
    while (sent < count && !response.destroyed) {
      sent += 1;
      if (!response.write(chunk)) return void response.once("drain", send);
    }
    response.end();
  };
  send();
}

test("a document at a URL is read completely, with or without gzip", async () => {
  for (const body of [Buffer.from(TEXT), gzipSync(TEXT)]) {
    await using server = await openCatalogServer((response) => {
      response
        .writeHead(200, { etag: '"v1"', ...(body[0] === 0x1f ? { "content-encoding": "gzip" } : {}) })
        .end(body);
    });
    expect(await load(server.url)).toEqual({ isUnchanged: false, value: DOCUMENT, etag: '"v1"' });
    expect(server.requests[0]).toMatchObject({ "accept-encoding": "gzip" });
    expect(server.requests[0]).not.toHaveProperty("if-none-match");
  }
});

test("a URL is requested with the last ETag, and a 304 means that the document is unchanged", async () => {
  await using server = await openCatalogServer((response, request) => {
    response.writeHead(request.headers["if-none-match"] === '"v1"' ? 304 : 500).end();
  });
  expect(await load(server.url, {}, '"v1"')).toEqual({ isUnchanged: true });
  await expect(load(server.url)).rejects.toThrow("it answered with status 500");
});

test("credentials in a URL are sent to its server, but do not appear in the source's label", async () => {
  await using server = await openCatalogServer((response) => response.end(TEXT));
  const name = server.url.replace("http://", "http://us%40er:pass-word@").concat("?token=secret#part");
  await load(name);
  expect(server.requests[0]?.authorization).toBe(`Basic ${btoa("us@er:pass-word")}`);
  expect(openSource(name).label).toBe(server.url);
});

for (const [what, answer, reason] of [
  [
    "an error status",
    (response: ServerResponse) => void response.writeHead(503).end("later"),
    "it answered with status 503",
  ],
  [
    "an unrequested 304",
    (response: ServerResponse) => void response.writeHead(304).end(),
    "it answered with status 304",
  ],
  [
    "truncated JSON",
    (response: ServerResponse) => void response.end('{"acme": {'),
    "the document is not JSON: ",
  ],
  ["an empty body", (response: ServerResponse) => void response.end(), "the document is not JSON: "],
  [
    "an HTML page",
    (response: ServerResponse) => void response.end("<!doctype html>"),
    "the document is not JSON: ",
  ],
  [
    "text that is not UTF-8",
    (response: ServerResponse) => void response.end(Buffer.from([0x22, 0xff, 0x22])),
    "the document is not JSON: ",
  ],
  [
    "a truncated gzip",
    (response: ServerResponse) => void response.end(gzipSync(TEXT).subarray(0, 20)),
    "the document is not JSON: ",
  ],
  [
    "a body shorter than its Content-Length",
    (response: ServerResponse) => {
      response.writeHead(200, { "content-length": "1000" }).write("{");
      setImmediate(() => response.destroy());
    },
    "it cannot be reached: ",
  ],
  [
    "a Content-Length above the limit",
    (response: ServerResponse) =>
      void response.writeHead(200, { "content-length": String(100 * MEBIBYTE) }).flushHeaders(),
    "the document is larger than 32 MiB",
  ],
  [
    "100 MiB without a Content-Length",
    (response: ServerResponse) => sendBlanks(response, 100),
    "the document is larger than 32 MiB",
  ],
  [
    "a small gzip that expands to 100 MiB",
    (response: ServerResponse) => void response.end(gzipSync(Buffer.alloc(100 * MEBIBYTE))),
    "the document is larger than 32 MiB",
  ],
] as const) {
  test(`a URL that responds with ${what} is refused: ${reason}`, async () => {
    await using server = await openCatalogServer(answer);
    await expect(load(server.url)).rejects.toThrow(reason);
  });
}

test("a request times out if the response never starts or never ends", async () => {
  for (const answer of [() => {}, (response: ServerResponse) => void response.write("{")]) {
    await using server = await openCatalogServer(answer);
    await expect(load(server.url, { timeoutMs: 100 })).rejects.toThrow(
      "it did not send the whole document within 0.1 s",
    );
  }
});

test("loading a URL fails if no server listens there", async () => {
  await expect(load("http://127.0.0.1:1/api.json")).rejects.toThrow("it cannot be reached: ECONNREFUSED");
});

for (const [location, reason] of [
  ["/elsewhere", "it redirects to an address without TLS"],
  ["http://models.dev/api.json", "it redirects to an address without TLS"],
  ["https://127.0.0.1/api.json", "it redirects to a loopback or private address"],
  ["https://2130706433/", "it redirects to a loopback or private address"],
  ["https://localhost/", "it redirects to a loopback or private address"],
  ["https://10.0.0.1/", "it redirects to a loopback or private address"],
  ["https://169.254.169.254/latest", "it redirects to a loopback or private address"],
  ["https://[::1]/", "it redirects to a loopback or private address"],
  ["https://[::ffff:192.168.0.1]/", "it redirects to a loopback or private address"],
  ["https://inside.example/", "it redirects to a loopback or private address"],
  ["https://both.example/", "it redirects to a loopback or private address"],
  ["https://nowhere.example/", "it cannot be reached: ENOTFOUND"],
  ["file:///etc/passwd", "it redirects to an address without TLS"],
  ["https://", "it redirects to an invalid URL"],
] as const) {
  test(`a redirect to ${location} is refused: ${reason}`, async () => {
    const addresses: Readonly<Record<string, readonly string[]>> = {
      "inside.example": ["192.168.7.7"],
      "both.example": ["93.184.216.34", "::1"],
    };
    const resolve = async (hostname: string) => {
      const found = addresses[hostname];
      if (!found) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
      return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    };
    await using server = await openCatalogServer((response) => response.writeHead(302, { location }).end());
    await expect(load(server.url, { resolve, timeoutMs: 5000 })).rejects.toThrow(reason);
    expect(server.requests).toHaveLength(1);
  });
}

test("a source URL without TLS or with invalid syntax is refused", () => {
  for (const name of ["http://models.dev/api.json", "ftp://models.dev/", "https://["]) {
    expect(() => openSource(name)).toThrow("CATALOG_SOURCE must be an https URL");
  }
});

test("a file is read with or without gzip, up to the size limit", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-catalog-"));
  try {
    const path = join(directory, "models");
    for (const body of [TEXT, gzipSync(TEXT), `\ufeff${TEXT}`]) {
      await writeFile(path, body);
      expect(await load(path)).toEqual({ isUnchanged: false, value: DOCUMENT, etag: null });
    }
    await writeFile(path, gzipSync(Buffer.alloc(1000)));
    await expect(load(path, { maxBytes: 100 })).rejects.toThrow("the document is larger than");
    await writeFile(path, " ".repeat(101));
    await expect(load(path, { maxBytes: 100 })).rejects.toThrow("the document is larger than");
    await expect(load(join(directory, "none"))).rejects.toThrow("the file cannot be read: ENOENT");
    await expect(load(directory)).rejects.toThrow("the file cannot be read: EISDIR");
  } finally {
    await rm(directory, { recursive: true });
  }
});
