/** Failing and aborted uploads. Bun also fails a test that leaves a rejection unhandled. */
import { expect, test } from "bun:test";
import { type BucketRequests, openBucketRequests } from "../../../shared/artifacts/s3_requests.ts";
import { uploadObject } from "../../../shared/artifacts/s3_upload.ts";
import { ArtifactTooLargeError } from "../../../shared/artifacts/store.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const PART_BYTES = 8 * 1024 * 1024;

/**
 * Opens a bucket stub that accepts the start, completion and abort of an upload, but stores nothing. `respondToPart` responds
 * to parts. `partMs` replaces the timeout of a part, which is two minutes.
 */
function openBucket(respondToPart: () => Response | Promise<Response>, partMs?: number) {
  const seen = { partCount: 0, abortCount: 0, failedPartCount: 0 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method === "PUT") {
        await request.arrayBuffer();
        seen.partCount += 1;
        return respondToPart();
      }
      if (request.method === "DELETE") seen.abortCount += 1;
      return new Response(request.method === "POST" ? "<UploadId>1</UploadId>" : null);
    },
  });
  const requests = openBucketRequests({
    endpoint: `http://127.0.0.1:${server.port}`,
    region: "us-east-1",
    bucket: "exports",
    credentials: { type: "static", accessKeyId: "id", secretAccessKey: "secret", sessionToken: null },
  });
  const counted: BucketRequests = {
    ...requests,
    async send(request) {
      const isPart = request.method === "PUT";
      try {
        return await requests.send(isPart && partMs ? { ...request, headersMs: partMs } : request);
      } catch (error) {
        if (isPart) seen.failedPartCount += 1;
        throw error;
      }
    },
  };
  return { requests: counted, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

test("a rejected part fails the upload without an unhandled rejection, even if the next part is slow", async () => {
  const denial = "<Error><Code>AccessDenied</Code></Error>";
  await using bucket = openBucket(() => new Response(denial, { status: 403 }));
  async function* slow(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(PART_BYTES);
    await waitFor(() => bucket.seen.failedPartCount === 1);
    yield new Uint8Array(PART_BYTES);
  }
  const { signal } = new AbortController();
  const stored = uploadObject(bucket.requests, { key: "a.zip", content: slow(), signal });
  expect(await stored.catch((error: Error) => error.message)).toBe(
    "Cannot use the artifact storage: the bucket responded with status 403 (AccessDenied)",
  );
  expect(bucket.seen.abortCount).toBe(1);
});

test("an abort while a part is being sent fails the upload without an unhandled rejection", async () => {
  await using bucket = openBucket(() => new Promise<Response>(() => {}));
  const stopping = new AbortController();
  const { signal } = stopping;
  async function* slow(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(PART_BYTES);
    await waitFor(() => bucket.seen.failedPartCount === 1);
    signal.throwIfAborted();
  }
  const reason = new Error("the runner stops");
  const stored = uploadObject(bucket.requests, { key: "a.zip", content: slow(), signal });
  await waitFor(() => bucket.seen.partCount === 1);
  stopping.abort(reason);
  expect(await stored.catch((error: unknown) => error)).toBe(reason);
  expect(bucket.seen.abortCount).toBe(1);
});

/** The timeout of a part. Even on a slow machine, a part arrives within about a second. */
const SILENCE_MS = 4_000;

test("a part that gets no response is retried once, and the upload fails if the retry gets no response either", async () => {
  const silence = () => new Promise<Response>(() => {});
  async function* content(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(PART_BYTES);
  }
  const { signal } = new AbortController();
  await using once = openBucket(
    () => (once.seen.partCount === 1 ? silence() : new Response(null, { headers: { ETag: "1" } })),
    SILENCE_MS,
  );
  const stored = uploadObject(once.requests, { key: "a.zip", content: content(), signal });
  // All parts arrived, but the stub then reports 0 stored bytes.
  expect(await stored.catch((error: Error) => error.message)).toBe(
    `Cannot use the artifact storage: the bucket stored 0 of ${PART_BYTES} bytes`,
  );
  expect(once.seen).toEqual({ partCount: 2, abortCount: 0, failedPartCount: 0 });
  await using always = openBucket(silence, SILENCE_MS);
  const failed = uploadObject(always.requests, { key: "a.zip", content: content(), signal });
  expect(await failed.catch((error: Error) => error.message)).toMatch(/: no response within 4 s\. Check/);
  expect(always.seen).toEqual({ partCount: 2, abortCount: 1, failedPartCount: 1 });
});

test("content of `maxBytes` plus one byte is rejected, and content of exactly `maxBytes` is sent", async () => {
  await using bucket = openBucket(() => new Response(null, { headers: { ETag: "1" } }));
  async function* content(bytes: number): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(bytes);
  }
  const { signal } = new AbortController();
  const maxBytes = 2 * PART_BYTES;
  const upload = (bytes: number) =>
    uploadObject(bucket.requests, { key: "a.zip", content: content(bytes), signal, maxBytes });
  const failed = await upload(maxBytes + 1).catch((error: unknown) => error);
  expect(failed).toEqual(new ArtifactTooLargeError(maxBytes));
  expect(bucket.seen.abortCount).toBe(1);
  // All parts arrived, but the stub then reports 0 stored bytes.
  expect(await upload(maxBytes).catch((error: Error) => error.message)).toBe(
    `Cannot use the artifact storage: the bucket stored 0 of ${maxBytes} bytes`,
  );
  expect(bucket.seen.abortCount).toBe(1);
});
