/** Sends signed requests to an S3-compatible bucket. Repeats requests that failed for a transient reason. */
import { AwsV4Signer } from "aws4fetch";
import { httpFetch } from "../network/http_fetch.ts";
import type { S3CredentialSource } from "../process/s3_config.ts";
import { DeadlineExceeded, pause } from "../process/with_timeout.ts";
import { openCredentials } from "./credentials.ts";
import { textOf } from "./s3_xml.ts";
import { ArtifactStorageError, storageError } from "./store.ts";

/** Shorter than the time limit of a client's request. */
const HEADERS_MS = 20_000;
const IDLE_MS = 20_000;
/** The pause before the first retry. It doubles with each retry. */
const RETRY_PAUSE_MS = 200;
const RETRIES = 3;
/** The minimum remaining lifetime of temporary credentials. Credentials with less time left are replaced before a request. */
const MIN_LIFE_MS = 5 * 60_000;
/** Error codes of a bucket that is temporarily unable to serve requests, and such status codes of proxies. */
const TRANSIENT: readonly string[] = [
  "InternalError",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "429",
  "500",
  "502",
  "503",
  "504",
];

export interface BucketAddress {
  /** The S3 endpoint; `null` for AWS. */
  endpoint: string | null;
  region: string;
  credentials: S3CredentialSource;
  bucket: string;
}

export interface BucketRequest {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The object's key; empty for a request to the bucket itself. */
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | string;
  /** The maximum time until the response starts. */
  headersMs?: number;
  /** True to repeat the request once if no response starts in time. By default, the request fails. */
  repeatsAfterSilence?: boolean;
  signal?: AbortSignal;
}

/** The bucket responded with an error. */
class BucketError extends Error {
  override readonly name = "BucketError";
  /** The S3 error code, such as `NoSuchKey`, or the HTTP status if the response has no code. */
  readonly code: string;

  constructor(status: number, code: string | null) {
    super(`the bucket responded with status ${status}${code === null ? "" : ` (${code})`}`);
    this.code = code ?? String(status);
  }
}

/** Requests to a bucket. Both methods throw ArtifactStorageError, or the abort reason of the request's signal. */
export interface BucketRequests {
  /** Sends the request and returns the complete response. */
  send(request: BucketRequest): Promise<{ headers: Headers; text: string }>;
  /** Sends the request and returns the response body as a stream. The caller must read or cancel it. */
  open(request: BucketRequest): Promise<{ headers: Headers; body: ReadableStream<Uint8Array> }>;
}

/** Prepares requests to the bucket. Sends no request yet. */
export function openBucketRequests({ endpoint, region, credentials, bucket }: BucketAddress): BucketRequests {
  const origin = (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/$/, "");
  const getCredentials = openCredentials(credentials);
  const sign = async ({ method, key, query = {}, headers = {} }: BucketRequest) => {
    const { accessKeyId, secretAccessKey, sessionToken } = await getCredentials(MIN_LIFE_MS);
    const path = (key === "" ? [bucket] : [bucket, ...key.split("/")]).map(encodeURIComponent).join("/");
    const signer = new AwsV4Signer({
      ...{ method, headers, accessKeyId, secretAccessKey, region, service: "s3" },
      ...(sessionToken === null ? {} : { sessionToken }),
      url: `${origin}/${path}?${new URLSearchParams(query)}`,
    });
    return signer.sign();
  };
  const trying = async <Result>(
    request: BucketRequest,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> => {
    const { method, key, signal } = request;
    for (let retry = 0; ; retry += 1) {
      try {
        return await read(await sendOnce(await sign(request), request));
      } catch (error) {
        signal?.throwIfAborted();
        if (!mayRepeat(request, retry, error)) {
          throw storageError(`cannot ${method} "${key}" in bucket "${bucket}" at ${origin}`, error);
        }
      }
      // After an abort, the next request throws the reason.
      await pause(RETRY_PAUSE_MS * 2 ** retry, signal);
    }
  };
  return {
    send: (request) =>
      trying(request, async (response) => ({ headers: response.headers, text: await response.text() })),
    open: (request) =>
      trying(request, async ({ headers, body }) => ({ headers, body: body ?? new Blob().stream() })),
  };
}

/** Returns whether the bucket responded with one of these error codes. */
export function hasBucketCode(error: unknown, ...codes: readonly string[]): boolean {
  const cause = error instanceof ArtifactStorageError ? error.cause : null;
  return cause instanceof BucketError && codes.includes(cause.code);
}

/**
 * Sends a request once. Throws BucketError for a status other than success, and another error for a response that is not the
 * bucket's.
 */
async function sendOnce(
  { url, headers }: { url: URL; headers: Headers },
  { method, body, signal, headersMs = HEADERS_MS }: BucketRequest,
): Promise<Response> {
  const response = await httpFetch(url, {
    ...{ method, headers, headersMs, idleMs: IDLE_MS },
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  const { ok, status } = response;
  if (isPage(response) && !TRANSIENT.includes(String(status))) {
    await response.body?.cancel();
    throw new Error(
      `a web page with status ${status} came in place of the bucket's response; check S3_ENDPOINT and proxies`,
    );
  }
  if (ok) return response;
  throw new BucketError(status, textOf(await response.text(), "Code"));
}

/**
 * Returns whether the response is a web page. Consoles, sign-in pages and proxies respond with a page to any request, even
 * with status 200. Buckets never do, but some buckets label empty responses as HTML.
 */
function isPage({ body, headers }: Response): boolean {
  if (body === null || headers.get("content-length") === "0") return false;
  return headers.get("content-type")?.startsWith("text/html") ?? false;
}

/**
 * Returns whether to retry the request. By default, it is not retried after a timeout, because an unresponsive network would
 * probably not respond to the retry.
 */
function mayRepeat({ repeatsAfterSilence = false }: BucketRequest, retry: number, error: unknown): boolean {
  if (error instanceof DeadlineExceeded) return repeatsAfterSilence && retry === 0;
  if (error instanceof BucketError && !TRANSIENT.includes(error.code)) return false;
  return retry < RETRIES && error instanceof Error && "code" in error;
}
