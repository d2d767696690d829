/** Uploads content of unknown length to a bucket. The object becomes visible only when it is complete. */
import { withTimeout } from "../process/with_timeout.ts";
import type { BucketRequests } from "./s3_requests.ts";
import { elementsOf, textOf } from "./s3_xml.ts";
import { ArtifactTooLargeError, type ContentDigest, digestContent, storageError } from "./store.ts";

const PART_BYTES = 8 * 1024 * 1024;
/** The maximum size of an object, because a bucket accepts 10,000 parts per object. */
export const MAX_OBJECT_BYTES = 10_000 * PART_BYTES;
/** Parts that are uploaded at the same time. A part stays in memory until the bucket has received it. */
const CONCURRENT_PARTS = 2;
/** The timeout for uploading a part, which corresponds to 70 KB per second. */
const PART_MS = 120_000;
/** The timeout for the bucket to assemble the parts. */
const COMPLETE_MS = 300_000;
const ABORT_MS = 5_000;

type Part = Uint8Array<ArrayBuffer>;

export interface Upload {
  key: string;
  content: AsyncGenerator<Uint8Array, void, void>;
  signal: AbortSignal;
  /** The maximum size of the object. Defaults to the bucket's limit. */
  maxBytes?: number;
}

/**
 * Stores the content. Throws ArtifactTooLargeError. If the upload fails or `signal` is aborted, the uploaded parts are
 * deleted if possible.
 */
export async function uploadObject(
  bucket: BucketRequests,
  { key, content, signal, maxBytes = MAX_OBJECT_BYTES }: Upload,
): Promise<ContentDigest> {
  let digest: ContentDigest | null = null;
  const digested = digestContent(content, (end) => {
    digest = end;
  });
  try {
    const headers = { "Content-Type": "application/zip" };
    const begun = await bucket.send({ method: "POST", key, query: { uploads: "" }, headers, signal });
    const upload = { key, uploadId: textOf(begun.text, "UploadId") ?? "", signal };
    try {
      const etags = await sendParts(bucket, { ...upload, content: digested, maxBytes });
      await completeUpload(bucket, { ...upload, etags });
    } catch (error) {
      await abortUpload(bucket, upload).catch(() => {});
      throw error;
    }
    const stored = await bucket.send({ method: "HEAD", key, signal });
    return checkedDigest(digest, Number(stored.headers.get("content-length")));
  } finally {
    await content.return();
  }
}

interface BegunUpload {
  key: string;
  uploadId: string;
  signal: AbortSignal;
}

/**
 * Yields buffers of the part size. Only the last buffer may be smaller. Reuses sent buffers from `free`, because replaced
 * buffers would stay in memory until garbage collection.
 */
async function* gatherParts(
  chunks: AsyncGenerator<Uint8Array, void, void>,
  free: ArrayBuffer[],
): AsyncGenerator<Part, void, void> {
  const take = (): Part => new Uint8Array(free.pop() ?? new ArrayBuffer(PART_BYTES));
  let part = take();
  let filled = 0;
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      const taken = chunk.subarray(0, PART_BYTES - filled);
      part.set(taken, filled);
      filled += taken.length;
      chunk = chunk.subarray(taken.length);
      if (filled < PART_BYTES) continue;
      yield part;
      part = take();
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

async function completeUpload(
  bucket: BucketRequests,
  { key, uploadId, signal, etags }: BegunUpload & { etags: readonly string[] },
): Promise<void> {
  const list = etags.map((etag, index) => {
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  const body = `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`;
  const query = { uploadId };
  const done = await bucket.send({ method: "POST", key, query, body, signal, headersMs: COMPLETE_MS });
  // The bucket may have started a response with status 200 before the request failed.
  const [problem] = elementsOf(done.text, "Error");
  if (problem !== undefined) throw storageError(`the bucket responded: ${textOf(problem, "Message")}`);
}

/** Uploads the parts and returns their entity tags in order. When it returns or throws, no part is being sent anymore. */
async function sendParts(
  bucket: BucketRequests,
  { key, uploadId, signal, content, maxBytes }: BegunUpload & Required<Pick<Upload, "content" | "maxBytes">>,
): Promise<string[]> {
  const free: ArrayBuffer[] = [];
  const etags: string[] = [];
  const stop = new AbortController();
  const request = {
    method: "PUT",
    key,
    headersMs: PART_MS,
    // Each request uses its own connection. If a connection is lost, only its part is sent again, not the whole build.
    repeatsAfterSilence: true,
    signal: AbortSignal.any([signal, stop.signal]),
  } as const;
  /** The parts that are being sent, and the failed parts. */
  const sending = new Set<Promise<void>>();
  let count = 0;
  try {
    for await (const body of gatherParts(content, free)) {
      if (count * PART_BYTES + body.length > maxBytes) throw new ArtifactTooLargeError(maxBytes);
      const index = count;
      count += 1;
      const query = { partNumber: String(count), uploadId };
      const sent = bucket.send({ ...request, query, body }).then(({ headers }) => {
        etags[index] = headers.get("etag") ?? "";
        free.push(body.buffer);
        sending.delete(sent);
      });
      // The request may fail while the content produces the next part. The awaits below throw its error.
      sent.catch(() => {});
      sending.add(sent);
      if (sending.size === CONCURRENT_PARTS) await Promise.race(sending);
    }
    await Promise.all(sending);
    return etags;
  } finally {
    stop.abort();
    await Promise.allSettled(sending);
  }
}

/** Deletes the parts of an unfinished upload from the bucket. */
export async function abortUpload(
  bucket: BucketRequests,
  { key, uploadId }: Omit<BegunUpload, "signal">,
): Promise<void> {
  await withTimeout(bucket.send({ method: "DELETE", key, query: { uploadId } }), ABORT_MS);
}

function checkedDigest(digest: ContentDigest | null, storedBytes: number): ContentDigest {
  if (digest?.bytes === storedBytes) return digest;
  throw storageError(`the bucket stored ${storedBytes} of ${digest?.bytes} bytes`);
}
