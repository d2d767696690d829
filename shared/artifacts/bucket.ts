/** Stores artifacts in an S3-compatible bucket. A multipart upload becomes visible only when it is complete. */
import { type BucketAddress, type BucketRequests, hasBucketCode, openBucketRequests } from "./s3_requests.ts";
import { abortUpload, uploadObject } from "./s3_upload.ts";
import { elementsOf, textOf } from "./s3_xml.ts";
import { openSpool } from "./spool.ts";
import { type ArtifactStore, MARKER_NAME, type StoredFile, storageError } from "./store.ts";

/** Error codes of a conditional write if the object exists, or if another process is writing it. */
const TAKEN = ["PreconditionFailed", "ConditionalRequestConflict", "412", "409"];
const MISSING = ["NoSuchKey", "NoSuchUpload", "404"];
/** Error codes of buckets that cannot list unfinished uploads, or do not allow it with this key. */
const UNLISTED = ["AccessDenied", "MethodNotAllowed", "NotImplemented", "403", "405", "501"];
const MARKER_TYPE = { "Content-Type": "application/json" };

export interface ArtifactBucketOptions extends BucketAddress {
  /** The prefix of all keys: empty, or ending with a slash. */
  prefix: string;
  /** The local directory for artifacts that are being sent to clients. */
  spoolDirectory: string;
}

/** Opens the store. Sends no request to the bucket. */
export function openArtifactBucket(options: ArtifactBucketOptions): ArtifactStore {
  const { prefix } = options;
  const bucket = openBucketRequests(options);
  const spool = openSpool(options.spoolDirectory);
  const markerKey = prefix + MARKER_NAME;
  return {
    write: (name, content, signal = new AbortController().signal) =>
      uploadObject(bucket, { key: prefix + name, content, signal }),
    async exists(name) {
      // With HEAD, the response of a web page could not be distinguished from the bucket's response.
      const headers = { Range: "bytes=0-0" };
      const found = await ifThere(bucket.open({ method: "GET", key: prefix + name, headers }));
      await found?.body.cancel();
      return found !== null;
    },
    async read(name, { bytes, range = { first: 0, last: bytes - 1 }, signal, isOver }) {
      const headers = { Range: `bytes=${range.first}-${range.last}` };
      const open = async () => {
        const found = await ifThere(bucket.open({ method: "GET", key: prefix + name, headers, signal }));
        if (found === null || beginsAt(range.first, found.headers)) return found?.body ?? null;
        await found.body.cancel();
        throw new Error(`the response does not begin at byte ${range.first}`);
      };
      try {
        return await spool({ bytes: range.last - range.first + 1, signal, isOver }, open);
      } catch (error) {
        throw storageError("an artifact cannot be read", error);
      }
    },
    async *list(start = "") {
      for (const list of [listObjects, listUploads]) {
        for await (const file of list(bucket, prefix + start)) {
          yield { ...file, name: file.name.slice(prefix.length) };
        }
      }
    },
    remove: (name) => removeObject(bucket, prefix + name),
    async readMarker() {
      const found = await ifThere(bucket.send({ method: "GET", key: markerKey }));
      return found?.text ?? null;
    },
    createMarker: (text) => createObject(bucket, markerKey, text),
    async replaceMarker(body) {
      await bucket.send({ method: "PUT", key: markerKey, headers: MARKER_TYPE, body });
    },
  };
}

/**
 * Returns whether the response starts at byte `first`. A server or proxy that ignores the Range header sends the whole object
 * and no Content-Range.
 */
function beginsAt(first: number, headers: Headers): boolean {
  const range = headers.get("content-range");
  return range === null ? first === 0 : range.startsWith(`bytes ${first}-`);
}

/** Returns null if the object does not exist. */
function ifThere<Result>(response: Promise<Result>): Promise<Result | null> {
  return unlessRefused(response, MISSING);
}

/** Returns null if the bucket responds with one of the error codes. */
async function unlessRefused<Result>(
  response: Promise<Result>,
  codes: readonly string[],
): Promise<Result | null> {
  return response.catch((error: unknown) => {
    if (hasBucketCode(error, ...codes)) return null;
    throw error;
  });
}

/** Creates the object. Returns false if it exists. */
async function createObject(bucket: BucketRequests, key: string, body: string): Promise<boolean> {
  // Some buckets ignore the If-None-Match condition.
  if (await ifThere(bucket.send({ method: "HEAD", key }))) return false;
  const headers = { ...MARKER_TYPE, "If-None-Match": "*" };
  return (await unlessRefused(bucket.send({ method: "PUT", key, headers, body }), TAKEN)) !== null;
}

/** Deletes the object, and the uploaded parts of unfinished uploads to the same key. */
async function removeObject(bucket: BucketRequests, key: string): Promise<void> {
  await ifThere(bucket.send({ method: "DELETE", key }));
  for await (const upload of listUploads(bucket, key)) {
    if (upload.name === key) await ifThere(abortUpload(bucket, { key, uploadId: upload.uploadId }));
  }
}

async function* listObjects(bucket: BucketRequests, prefix: string): AsyncGenerator<StoredFile, void, void> {
  let token: string | null = null;
  do {
    const query = { "list-type": "2", prefix, ...(token === null ? {} : { "continuation-token": token }) };
    const { text } = await bucket.send({ method: "GET", key: "", query });
    for (const item of elementsOf(text, "Contents")) {
      yield {
        name: textOf(item, "Key") ?? "",
        size: Number(textOf(item, "Size")),
        modifiedAt: new Date(textOf(item, "LastModified") ?? 0),
      };
    }
    token = textOf(text, "NextContinuationToken");
  } while (token !== null);
}

/** Lists unfinished uploads. Each one is an empty file with the name of its object. Lists none if the bucket cannot list them. */
async function* listUploads(
  bucket: BucketRequests,
  prefix: string,
): AsyncGenerator<StoredFile & { uploadId: string }, void, void> {
  let markers: Readonly<Record<string, string>> = {};
  let isTruncated = true;
  while (isTruncated) {
    const query = { uploads: "", prefix, ...markers };
    const page = await unlessRefused(bucket.send({ method: "GET", key: "", query }), UNLISTED);
    if (page === null) return;
    const { text } = page;
    for (const item of elementsOf(text, "Upload")) {
      yield {
        name: textOf(item, "Key") ?? "",
        size: 0,
        modifiedAt: new Date(textOf(item, "Initiated") ?? 0),
        uploadId: textOf(item, "UploadId") ?? "",
      };
    }
    isTruncated = textOf(text, "IsTruncated") === "true";
    markers = {
      "key-marker": textOf(text, "NextKeyMarker") ?? "",
      "upload-id-marker": textOf(text, "NextUploadIdMarker") ?? "",
    };
  }
}
