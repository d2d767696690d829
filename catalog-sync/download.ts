/** Downloads a document over HTTP. Limits the time and the size, and checks the target of every redirect. */
import { type OutgoingResponse, type Resolve, sendRequest } from "../shared/network/outgoing_request.ts";
import { isLoopbackHost, isPublicAddress } from "../shared/network/public_address.ts";

/** A source cannot be loaded. The error message contains no secrets, because it is logged and stored. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
const PRIVATE_TARGET = "it redirects to a loopback or private address";

export interface DownloadOptions {
  /** The ETag to send as If-None-Match; `null` to send none. */
  etag: string | null;
  timeoutMs: number;
  maxBytes: number;
  /** Aborted when the process shuts down. */
  signal: AbortSignal;
  resolve?: Resolve;
}

export interface Download {
  /** The body as received, possibly compressed. */
  bytes: Uint8Array;
  etag: string | null;
}

/** Returns whether a source may use this URL: it must use TLS or point to this machine. */
export function isAllowedUrl(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

/** Downloads a document. Returns null if the document still has the given ETag. Throws SourceError if the download fails. */
export async function download(source: URL, options: DownloadOptions): Promise<Download | null> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    return await followRedirects(source, { ...options, signal });
  } catch (error) {
    if (timeout.aborted)
      throw new SourceError(`it did not send the whole document within ${options.timeoutMs / 1000} s`);
    if (error instanceof SourceError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const message = error instanceof Error ? error.message : String(error);
    throw new SourceError(`it cannot be reached: ${code.replace(/^DNS_/, "") || message}`, { cause: error });
  }
}

async function followRedirects(source: URL, options: DownloadOptions): Promise<Download | null> {
  let url = source;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const response = await requestDocument(url, { ...options, isRedirect: hops > 0 });
    if (!REDIRECTS.has(response.statusCode)) return await readBody(response, options);
    response.destroy();
    url = redirectTarget(url, response.headers.location);
  }
  throw new SourceError(`it redirects more than ${MAX_REDIRECTS} times`);
}

/**
 * Returns the target of a redirect. It must be public, even if the source is on this machine, because third parties may
 * choose it.
 */
function redirectTarget(from: URL, location: string | undefined): URL {
  const target = URL.parse(location ?? "", from.href);
  if (!target) throw new SourceError("it redirects to an invalid URL");
  if (target.protocol !== "https:") throw new SourceError("it redirects to an address without TLS");
  if (isLoopbackHost(target.hostname)) throw new SourceError(PRIVATE_TARGET);
  target.username = "";
  target.password = "";
  return target;
}

function requestDocument(
  url: URL,
  { etag, signal, isRedirect, resolve }: DownloadOptions & { isRedirect: boolean },
): Promise<OutgoingResponse> {
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const refusal = (unresolved?: Error) => unresolved ?? new SourceError(PRIVATE_TARGET);
  const check = { isAllowed: isPublicAddress, refusal, resolve };
  return sendRequest(new URL(`${url.origin}${url.pathname}${url.search}`), {
    method: "GET",
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "gzip",
      ...(etag === null ? {} : { "If-None-Match": etag }),
      ...(credentials === ":" ? {} : { Authorization: `Basic ${btoa(credentials)}` }),
    },
    signal,
    ...(isRedirect ? { check } : {}),
  });
}

async function readBody(
  response: OutgoingResponse,
  { etag, maxBytes }: DownloadOptions,
): Promise<Download | null> {
  const { statusCode, headers } = response;
  try {
    if (statusCode === 304 && etag !== null) return null;
    if (statusCode !== 200) throw new SourceError(`it answered with status ${statusCode}`);
    if (Number(headers["content-length"] ?? 0) > maxBytes) throw documentTooLarge(maxBytes);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw documentTooLarge(maxBytes);
      chunks.push(chunk);
    }
    return { bytes: Buffer.concat(chunks), etag: headers.etag ?? null };
  } finally {
    response.destroy();
  }
}

/** Returns the error for a document that is larger than `maxBytes`, before or after decompression. */
export function documentTooLarge(maxBytes: number): SourceError {
  return new SourceError(`the document is larger than ${maxBytes / 2 ** 20} MiB`);
}
