/** Uploads content of unknown length to a bucket, where it becomes visible as a whole or not at all. */
import { withTimeout } from "../process/with_timeout.ts";
import type { BucketRequests } from "./s3_requests.ts";
import { elementsOf, textOf } from "./s3_xml.ts";
import { ArtifactTooLargeError, type ContentDigest, digestContent, storageError } from "./store.ts";

const PART_BYTES = 8 * 1024 * 1024;
/** A bucket accepts 10,000 parts per object. */
export const MAX_OBJECT_BYTES = 10_000 * PART_BYTES;
/** Each is held in memory until the bucket has it. */
const CONCURRENT_PARTS = 2;
/** For a part: 70 KB a second. */
const PART_MS = 120_000;
/** For the bucket to put the parts together. */
const COMPLETE_MS = 300_000;
const ABORT_MS = 5_000;

type Part = Uint8Array<ArrayBuffer>;

export interface Upload {
  key: string;
  content: AsyncGenerator<Uint8Array, void, void>;
  signal: AbortSignal;
  /** Default: as much as a bucket accepts. */
  maxBytes?: number;
}

/**
 * Stores the content, or throws ArtifactTooLargeError. If it fails or `signal` is aborted, the bucket is asked to forget the
 * parts that it has.
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
 * Yields buffers of the size of a part; the last one, if there is any, is smaller. Takes buffers that were sent from
 * `free`: new ones would wait for the garbage collector.
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
  // The bucket may have begun a response of status 200 before it failed.
  const [problem] = elementsOf(done.text, "Error");
  if (problem !== undefined) throw storageError(`the bucket responded: ${textOf(problem, "Message")}`);
}

/** Returns the entity tags of the parts, in order. When it returns or throws, no part is still being sent. */
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
    // Each request has a connection of its own. If the network loses one, the whole build need not start over.
    repeatsAfterSilence: true,
    signal: AbortSignal.any([signal, stop.signal]),
  } as const;
  /** Those that are being sent, and those that have failed. */
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
      // It may fail while the content makes the next part. The awaits below throw its error.
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

/** Makes the bucket forget the parts of an upload that was not completed. */
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
