/** Stores artifacts in an S3-compatible bucket. A multipart upload becomes visible as a whole or not at all. */
import type { S3CredentialSource } from "../process/s3_config.ts";
import { type ContentDigest, digestContent } from "./content_digest.ts";
import { openCredentials } from "./credentials.ts";
import { openSpool } from "./spool.ts";
import {
  type ArtifactStore,
  type ByteRange,
  MARKER_NAME,
  type StoredFile,
  storageError,
  storing,
} from "./store.ts";

/** A bucket accepts 10,000 parts per object, so artifacts of up to 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** Each is held in memory until the bucket has it. */
const CONCURRENT_PARTS = 2;
const URL_LIFE_SECONDS = 60;
/** Temporary credentials with less time left are replaced before a request. */
const REQUEST_MIN_LIFE_MS = 5 * 60_000;
/** An upload keeps the credentials that it began with, and may take as long as the build of an export. */
const UPLOAD_MIN_LIFE_MS = 45 * 60_000;
const MARKER_TIMEOUT_MS = 30_000;
/** Statuses of a conditional write when the object exists, or another process is writing it. */
const TAKEN: readonly number[] = [412, 409];
const PART_RETRIES = 3;

export interface ArtifactBucketOptions {
  /** `null`: AWS itself. */
  endpoint: string | null;
  region: string;
  credentials: S3CredentialSource;
  bucket: string;
  /** Prefix of all keys: empty, or with a slash at its end. */
  prefix: string;
  /** Local directory for artifacts that are being sent to clients. */
  spoolDirectory: string;
}

type GetClient = (minLifeMs?: number) => Promise<Bun.S3Client>;

/** Opens the store without a request to the bucket. */
export function openArtifactBucket(options: ArtifactBucketOptions): ArtifactStore {
  const { prefix } = options;
  const getClient = createGetClient(options);
  const spool = openSpool(options.spoolDirectory);
  const withClient = <Result>(use: (client: Bun.S3Client) => Promise<Result>): Promise<Result> =>
    storing(getClient().then(use));
  return {
    fetchesToRead: true,
    write: (name, content) => upload(getClient, prefix + name, content),
    exists: (name) => withClient((client) => client.exists(prefix + name)),
    async read(name, { bytes, range = { first: 0, last: bytes - 1 }, signal, isOver }) {
      try {
        return await spool({ bytes: range.last - range.first + 1, signal, isOver }, async () =>
          download(await getClient(), prefix + name, { range, signal }),
        );
      } catch (error) {
        throw storageError("an artifact cannot be read", error);
      }
    },
    list: () => listObjects(withClient, prefix),
    remove: (name) => withClient((client) => client.delete(prefix + name).catch(ifMissing)),
    readMarker: () =>
      withClient((client) =>
        client
          .file(prefix + MARKER_NAME)
          .text()
          .catch(nullIfMissing),
      ),
    createMarker: (text) => withClient((client) => createObject(client, prefix + MARKER_NAME, text)),
    replaceMarker: (text) =>
      withClient(async (client) => {
        await client.write(prefix + MARKER_NAME, text, { type: "application/json" });
      }),
  };
}

/** Returns a function that gives the client with the current credentials: the same one until they are replaced. */
function createGetClient({
  endpoint,
  region,
  bucket,
  credentials: source,
}: ArtifactBucketOptions): GetClient {
  const getCredentials = openCredentials(source);
  let current: { credentials: object; client: Bun.S3Client } | null = null;
  return async (minLifeMs = REQUEST_MIN_LIFE_MS) => {
    const credentials = await getCredentials(minLifeMs);
    if (current?.credentials === credentials) return current.client;
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const client = new Bun.S3Client({
      region,
      bucket,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === null ? {} : { sessionToken }),
      ...(endpoint === null ? {} : { endpoint }),
      retry: PART_RETRIES,
    });
    current = { credentials, client };
    return client;
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "NoSuchKey";
}

function ifMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

function nullIfMissing(error: unknown): null {
  ifMissing(error);
  return null;
}

/** Bun's client has no conditional writes, but it can sign the URL for one. */
async function createObject(client: Bun.S3Client, key: string, text: string): Promise<boolean> {
  // Some buckets ignore the condition.
  if (await client.exists(key)) return false;
  const url = client.presign(key, { method: "PUT", expiresIn: URL_LIFE_SECONDS });
  const response = await fetch(url, {
    method: "PUT",
    headers: { "If-None-Match": "*", "Content-Type": "application/json" },
    body: text,
    signal: AbortSignal.timeout(MARKER_TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (TAKEN.includes(response.status)) return false;
  if (response.ok) return true;
  throw new Error(`the bucket responded with status ${response.status}`);
}

async function* listObjects(
  withClient: <Result>(use: (client: Bun.S3Client) => Promise<Result>) => Promise<Result>,
  prefix: string,
): AsyncGenerator<StoredFile, void, void> {
  let continuationToken: string | undefined;
  do {
    const options = { ...(prefix ? { prefix } : {}), ...(continuationToken ? { continuationToken } : {}) };
    const page: Bun.S3ListObjectsResponse = await withClient((client) => client.list(options));
    for (const { key, size = 0, lastModified = 0 } of page.contents ?? []) {
      yield { name: key.slice(prefix.length), size, modifiedAt: new Date(lastModified) };
    }
    continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
  } while (continuationToken !== undefined);
}

/**
 * Returns the bytes of a range of an object, or `null` if there is no such object. Uses `fetch`, which can be aborted
 * and shows the status, with a signed URL that never leaves this process.
 */
async function download(
  client: Bun.S3Client,
  key: string,
  { range: { first, last }, signal }: { range: ByteRange; signal: AbortSignal },
): Promise<ReadableStream<Uint8Array> | null> {
  const url = client.presign(key, { expiresIn: URL_LIFE_SECONDS });
  const response = await fetch(url, { headers: { Range: `bytes=${first}-${last}` }, signal });
  if (response.status === 206 && response.body) return response.body;
  await response.body?.cancel();
  if (response.status === 404) return null;
  throw new Error(`the bucket responded with status ${response.status}`);
}

/** Bun pulls content as parts are sent, and aborts the upload when the content fails. */
async function upload(
  getClient: GetClient,
  key: string,
  content: AsyncGenerator<Uint8Array, void, void>,
): Promise<ContentDigest> {
  let digest: ContentDigest | null = null;
  let failure: { error: unknown } | null = null;
  const digested = digestContent(content, (end) => {
    digest = end;
  });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await digested.next();
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          failure = { error };
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
  try {
    const client = await getClient(UPLOAD_MIN_LIFE_MS);
    await client.write(key, new Response(body), {
      partSize: PART_BYTES,
      queueSize: CONCURRENT_PARTS,
      type: "application/zip",
    });
    const { size } = await client.stat(key);
    return checkedDigest(digest, size);
  } catch (error) {
    // The compiler does not see the assignment in `pull`.
    const failed = failure as { error: unknown } | null;
    throw failed ? failed.error : storageError("an upload failed", error);
  } finally {
    await digested.return();
    await content.return();
  }
}

function checkedDigest(digest: ContentDigest | null, storedBytes: number): ContentDigest {
  if (digest?.bytes === storedBytes) return digest;
  throw new Error(`the bucket stored ${storedBytes} of ${digest?.bytes} bytes`);
}
