/** The guarantees of both stores, with a real directory and a real S3-compatible server. */
import { expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openArtifactStore } from "../../../shared/artifacts/open_store.ts";
import { ArtifactStorageError, type ArtifactStore, MARKER_NAME } from "../../../shared/artifacts/store.ts";
import { startS3Server } from "../../helpers/network/s3_server.ts";
import { openSlowProxy } from "../../helpers/network/slow_proxy.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const MIB = 1024 * 1024;
const signal = new AbortController().signal;
const isOver = () => false;

interface Opened extends AsyncDisposable {
  store: ArtifactStore;
  /** Makes the store fail. */
  break(): Promise<void>;
}

async function openDirectory(): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-store-"));
  const artifactUrl = pathToFileURL(join(directory, "artifacts")).href;
  return {
    store: openArtifactStore({ artifactUrl, s3: null, dataDir: directory }),
    async break() {
      await rm(join(directory, "artifacts"), { recursive: true });
      await Bun.write(join(directory, "artifacts"), "a file where the directory should be");
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

async function openBucket(): Promise<Opened> {
  const server = await startS3Server();
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  return {
    store: openArtifactStore({ ...server.config, dataDir }),
    break: () => server.kill(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a bucket behind a proxy that implements `If-None-Match: *`, which AWS respects and s3rver ignores. */
async function openConditionalBucket(): Promise<Opened> {
  const s3 = await startS3Server();
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  const taken = new Set<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const isTaken = taken.has(pathname);
      if (request.method === "PUT") taken.add(pathname);
      if (isTaken && request.headers.get("if-none-match") === "*") return new Response(null, { status: 412 });
      const { method, headers } = request;
      const body = method === "PUT" ? { body: await request.arrayBuffer() } : {};
      return fetch(`${s3.config.s3.endpoint}${pathname}${search}`, { method, headers, ...body });
    },
  });
  const endpoint = `http://127.0.0.1:${server.port}`;
  return {
    store: openArtifactStore({ ...s3.config, s3: { ...s3.config.s3, endpoint }, dataDir }),
    async break() {
      await server.stop(true);
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await s3[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Yields `count` chunks of 1 MiB that hardly compress. */
async function* noise(count: number): AsyncGenerator<Uint8Array, void, void> {
  for (let index = 0; index < count; index += 1) yield new Uint8Array(randomBytes(MIB));
}

async function gather(chunks: AsyncGenerator<Uint8Array, void, void>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let start = 0; start < bytes.length; start += MIB)
    yield new Uint8Array(bytes.subarray(start, start + MIB));
}

const names = async (store: ArtifactStore) =>
  (await Array.fromAsync(store.list())).map(({ name }) => name).toSorted();

for (const [kind, open] of [
  ["directory", openDirectory],
  ["bucket", openBucket],
] as const) {
  test(`a ${kind} returns the whole file or a range after a write, lists the file and removes the file`, async () => {
    await using opened = await open();
    const { store } = opened;
    expect(await names(store)).toEqual([]);
    const content = await gather(noise(20));
    const before = Date.now();
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(await store.write("a.1.zip", once(content))).toEqual({ bytes: content.length, sha256 });
    expect(await store.write("b.2.zip", once(Buffer.from("small")))).toMatchObject({ bytes: 5 });
    const bytes = content.length;
    const whole = await store.read("a.1.zip", { bytes, signal, isOver });
    expect(Buffer.from((await whole?.arrayBuffer()) ?? new ArrayBuffer()).equals(content)).toBe(true);
    for (const [first, last] of [
      [0, 0],
      [MIB - 1, 9 * MIB],
      [bytes - 1, bytes - 1],
    ] as const) {
      const part = await store.read("a.1.zip", { bytes, range: { first, last }, signal, isOver });
      const read = Buffer.from((await part?.arrayBuffer()) ?? new ArrayBuffer());
      expect(read.equals(content.subarray(first, last + 1))).toBe(true);
    }
    const listed = (await Array.fromAsync(store.list())).toSorted((a, b) => a.name.localeCompare(b.name));
    expect(listed).toMatchObject([
      { name: "a.1.zip", size: bytes },
      { name: "b.2.zip", size: 5 },
    ]);
    for (const { modifiedAt } of listed) expect(Math.abs(modifiedAt.getTime() - before)).toBeLessThan(60_000);
    expect(await store.exists("a.1.zip")).toBe(true);
    await store.remove("a.1.zip");
    await store.remove("a.1.zip");
    expect(await store.exists("a.1.zip")).toBe(false);
    expect(await store.read("a.1.zip", { bytes, signal, isOver })).toBeNull();
    expect(await names(store)).toEqual(["b.2.zip"]);
  });

  test(`a ${kind} stores nothing if reading the content fails, and rethrows the error`, async () => {
    await using opened = await open();
    const { store } = opened;
    async function* failing(): AsyncGenerator<Uint8Array, void, void> {
      yield* noise(30);
      throw new RangeError("no more");
    }
    await expect(store.write("a.1.zip", failing())).rejects.toThrow(new RangeError("no more"));
    expect(await names(store)).toEqual([]);
    expect(await store.write("a.1.zip", noise(1))).toMatchObject({ bytes: MIB });
  });

  test(`a ${kind} throws a storage error instead of returning an incomplete artifact`, async () => {
    await using opened = await open();
    await opened.store.write("a.1.zip", noise(1));
    const read = opened.store.read("a.1.zip", { bytes: MIB + 1, signal, isOver });
    expect(await read.catch((error: unknown) => error)).toBeInstanceOf(ArtifactStorageError);
  });

  test(`a failing ${kind} throws storage errors and closes the content being written`, async () => {
    await using opened = await open();
    const { store } = opened;
    await store.write("a.1.zip", noise(1));
    await opened.break();
    let openCount = 0;
    async function* watched(): AsyncGenerator<Uint8Array, void, void> {
      openCount += 1;
      try {
        yield* noise(20);
      } finally {
        openCount -= 1;
      }
    }
    const failed = async (step: Promise<unknown>) =>
      expect(await step.catch((error: unknown) => error)).toBeInstanceOf(ArtifactStorageError);
    await failed(store.write("b.1.zip", watched()));
    await failed(store.read("a.1.zip", { bytes: MIB, signal, isOver }));
    await failed(store.exists("a.1.zip"));
    await failed(Array.fromAsync(store.list()));
    expect(openCount).toBe(0);
  });
}

for (const [kind, open] of [
  ["directory", openDirectory],
  ["bucket", openBucket],
  ["bucket with conditional writes", openConditionalBucket],
] as const) {
  test(`a ${kind} has one marker, which is created only once, can be replaced, and appears in the list of files`, async () => {
    await using opened = await open();
    const { store } = opened;
    expect(await store.readMarker()).toBeNull();
    const texts = Array.from({ length: 8 }, (_, index) => `{"by": ${index}}\n`.padEnd(4000));
    const made = await Promise.all(texts.map((text) => store.createMarker(text)));
    const marker = await store.readMarker();
    expect(texts).toContain(marker ?? "");
    // In a bucket without conditional writes, several writers may believe that they created the marker.
    if (kind !== "bucket") expect(texts.filter((_, index) => made[index])).toEqual([marker ?? ""]);
    expect(await store.createMarker("late")).toBe(false);
    expect(await store.readMarker()).toBe(marker);
    await store.replaceMarker("replaced");
    // s3rver overwrites an object in place, so a read may return incomplete content.
    await waitFor(async () => (await store.readMarker()) === "replaced");
    expect(await names(store)).toEqual([MARKER_NAME]);
    await opened.break();
    const steps = [store.readMarker(), store.createMarker("x"), store.replaceMarker("x")];
    for (const { reason } of (await Promise.allSettled(steps)) as PromiseRejectedResult[]) {
      expect(reason).toBeInstanceOf(ArtifactStorageError);
    }
  });
}

test("the bucket's name and optional key prefix come from ARTIFACT_URL", async () => {
  await using server = await startS3Server();
  for (const [path, key] of [
    ["", "x.zip"],
    ["/", "x.zip"],
    ["/a/b/", "a/b/x.zip"],
    ["/c%20d", "c d/x.zip"],
  ] as const) {
    const store = openArtifactStore({
      s3: server.config.s3,
      artifactUrl: `s3://exports${path}`,
      dataDir: "/nowhere",
    });
    await store.write("x.zip", noise(1));
    expect(await server.client.exists(key)).toBe(true);
    await server.client.delete(key);
  }
});

test("an upload to a slow bucket buffers only a few parts", async () => {
  await using server = await startS3Server();
  await using proxy = await openSlowProxy(server.config.s3.endpoint, { pauseMs: 1 });
  const s3 = { ...server.config.s3, endpoint: proxy.origin };
  const store = openArtifactStore({ ...server.config, s3, dataDir: "/nowhere" });
  let made = 0;
  let ahead = 0;
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of noise(120)) {
      made += chunk.length;
      ahead = Math.max(ahead, made - proxy.forwarded());
      yield chunk;
    }
  }
  expect(await store.write("a.zip", watched())).toMatchObject({ bytes: 120 * MIB });
  expect(ahead / MIB).toBeLessThan(48);
});

test("aborting a read ends the request to the bucket and leaves no local file", async () => {
  await using server = await startS3Server();
  await using proxy = await openSlowProxy(server.config.s3.endpoint);
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  const s3 = { ...server.config.s3, endpoint: proxy.origin };
  const store = openArtifactStore({ ...server.config, s3, dataDir });
  await server.client.write("org/exports/a.zip", await gather(noise(20)));
  proxy.stall();
  const leaving = new AbortController();
  const read = store.read("a.zip", { bytes: 20 * MIB, signal: leaving.signal, isOver });
  await waitFor(() => proxy.connections() > 0);
  leaving.abort();
  await expect(read).rejects.toThrow();
  await waitFor(() => proxy.connections() === 0);
  expect(await Array.fromAsync(new Bun.Glob("**").scan({ cwd: dataDir }))).toEqual([]);
  await rm(dataDir, { recursive: true });
});

test("after the network silently drops a connection, reads and writes use new connections", async () => {
  await using server = await startS3Server();
  await using proxy = await openSlowProxy(server.config.s3.endpoint);
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  const s3 = { ...server.config.s3, endpoint: proxy.origin };
  const store = openArtifactStore({ ...server.config, s3, dataDir });
  const content = await gather(noise(20));
  await store.write("a.zip", once(content));
  for (const first of [0, 5 * MIB]) {
    const range = { first, last: first + MIB - 1 };
    const part = await store.read("a.zip", { bytes: content.length, range, signal, isOver });
    const read = Buffer.from((await part?.arrayBuffer()) ?? new ArrayBuffer());
    expect(read.equals(content.subarray(first, first + MIB))).toBe(true);
    proxy.recover();
    expect(await store.exists("a.zip")).toBe(true);
    proxy.recover();
    expect((await store.write("b.zip", once(content))).bytes).toBe(content.length);
    proxy.recover();
  }
  await rm(dataDir, { recursive: true });
});

/** Opens a store whose requests pass through `respond`, which may respond itself or forward requests without some headers. */
async function openBehind(respond: (request: Request, endpoint: string) => Response | Promise<Response>) {
  const s3 = await startS3Server();
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  const between = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => respond(request, s3.config.s3.endpoint),
  });
  const endpoint = `http://127.0.0.1:${between.port}`;
  return {
    direct: openArtifactStore({ ...s3.config, dataDir }),
    store: openArtifactStore({ ...s3.config, s3: { ...s3.config.s3, endpoint }, dataDir }),
    async [Symbol.asyncDispose]() {
      await between.stop(true);
      await s3[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

test("every request that gets a web page instead of the bucket's response fails with a storage error", async () => {
  const page = `<!doctype html><title>Sign in</title>${" ".repeat(2 * MIB)}`;
  const headers = { "content-type": "text/html; charset=utf-8" };
  const range = { first: 5, last: 9 };
  for (const status of [200, 404]) {
    await using place = await openBehind(() => new Response(page, { status, headers }));
    const { store } = place;
    for (const request of [
      () => store.write("a.zip", noise(1)),
      () => store.write("b.zip", noise(9)),
      () => store.exists("a.zip"),
      () => store.read("a.zip", { bytes: MIB, signal, isOver }),
      () => store.read("a.zip", { bytes: MIB, range, signal, isOver }),
      () => names(store),
      () => store.remove("a.zip"),
      () => store.readMarker(),
      () => store.replaceMarker("{}"),
    ]) {
      await expect(request()).rejects.toThrow(
        /^Cannot use the artifact storage: a web page with status \d+ came/,
      );
    }
  }
});

test("an empty response labeled as HTML is accepted, because some buckets send such responses", async () => {
  await using place = await openBehind(async (request, endpoint) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = method === "PUT" || method === "POST" ? { body: await request.arrayBuffer() } : {};
    const response = await fetch(`${endpoint}${pathname}${search}`, { method, headers, ...body });
    const content = await response.arrayBuffer();
    if (content.byteLength > 0 || method === "HEAD") return new Response(content, response);
    const etag = response.headers.get("etag") ?? "";
    const empty = { "content-type": "text/html; charset=UTF-8", "content-length": "0", etag };
    return new Response("", { status: response.status, headers: empty });
  });
  await place.store.write("a.zip", noise(1));
  expect(await names(place.direct)).toEqual(["a.zip"]);
  await place.store.remove("a.zip");
  expect(await names(place.direct)).toEqual([]);
});

test("through a proxy that drops Range, only ranges from the start of an artifact can be read", async () => {
  await using place = await openBehind((request, endpoint) => {
    const { pathname, search } = new URL(request.url);
    request.headers.delete("range");
    return fetch(`${endpoint}${pathname}${search}`, { headers: request.headers });
  });
  const content = await gather(noise(2));
  await place.direct.write("a.zip", once(content));
  const read = (range: { first: number; last: number }) =>
    place.store.read("a.zip", { bytes: content.length, range, signal, isOver });
  for (const last of [9, content.length - 1]) {
    const start = await read({ first: 0, last });
    const bytes = Buffer.from((await start?.arrayBuffer()) ?? new ArrayBuffer());
    expect(bytes.equals(content.subarray(0, last + 1))).toBe(true);
  }
  await expect(read({ first: MIB, last: MIB + 9 })).rejects.toThrow(
    "Cannot use the artifact storage: the response does not begin at",
  );
});

test("a directory store's files can be read from a bucket after being copied under the same names", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-store-"));
  await using server = await startS3Server();
  try {
    const folder = join(dataDir, "artifacts");
    const options = { s3: null, dataDir };
    const old = openArtifactStore({ ...options, artifactUrl: pathToFileURL(folder).href });
    const content = randomBytes(MIB);
    const { bytes } = await old.write("a.1.zip", once(content));
    await old.createMarker("the owner");
    const prefix = new URL(server.config.artifactUrl).pathname.slice(1);
    for (const name of await readdir(folder)) {
      await server.client.write(`${prefix}${prefix && "/"}${name}`, Bun.file(join(folder, name)));
    }
    const store = openArtifactStore({ ...server.config, dataDir });
    expect(await names(store)).toEqual(await names(old));
    expect(await store.readMarker()).toBe("the owner");
    const blob = await store.read("a.1.zip", { bytes, signal, isOver });
    expect(Buffer.from((await blob?.arrayBuffer()) ?? new ArrayBuffer()).equals(content)).toBe(true);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
