/**
 * Compresses responses. The request pipeline calls it for every route; a route returns its text, and an ETag if it has
 * one.
 */
import { availableParallelism } from "node:os";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { bytesIn, bytesResponse } from "../bytes_response.ts";
import type { RequestContext } from "../request_context.ts";
import { type ContentEncoding, chooseEncoding, encode, encodedTag } from "./content_encoding.ts";
import { reprDigest } from "./repr_digest.ts";

/** Below this size, compressing takes longer than it saves (measured: 40 to 140 µs for 4 KiB). */
const MIN_BYTES = 4 * 1024;
/** Size of the cache: some hundred pages of the model catalog. */
const MAX_KEPT_BYTES = 16 * 2 ** 20;
/** Approximate overhead of an entry. */
const ENTRY_BYTES = 500;

const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/schema+json",
  "application/yaml",
  "image/svg+xml",
  "text/css",
  "text/csv",
  "text/html",
  "text/javascript",
  "text/markdown",
  "text/plain",
]);

/**
 * Creates the encoder of one process, which caches compressed texts by resource and ETag. It returns a response in the
 * encoding that the request asks for; files are not encoded.
 */
export function createCompressResponse() {
  const kept = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (bytes, key) => bytes.length + 2 * key.length + ENTRY_BYTES,
  });

  // Leaves one processor to the event loop.
  const limit = pLimit(Math.max(1, availableParallelism() - 1));

  async function encodeOnce(
    key: string | null,
    body: Uint8Array<ArrayBuffer>,
    encoding: ContentEncoding,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const found = key === null ? undefined : kept.get(key);
    if (found) return found;
    const bytes = await limit(() => encode(body, encoding));
    if (key !== null) kept.set(key, bytes);
    return bytes;
  }

  return async ({ request, url }: RequestContext, response: Response): Promise<Response> => {
    const { headers, status } = response;
    const etag = headers.get("etag");
    if (!isText(response) && status !== 304) return response;
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    const tag = etag === null ? null : encodedTag(etag, encoding);
    if (tag !== null) {
      headers.set("ETag", tag);
      addVary(headers);
    }
    if (status === 304) {
      // It does not have the encoded bytes.
      headers.delete("Repr-Digest");
      return response;
    }
    const body = bytesIn(response);
    if (encoding === null || body === null || body.length < MIN_BYTES) return response;
    const key = tag === null ? null : `${tag} ${headers.get("content-type")} ${resourceOf(url)}`;
    const bytes = await encodeOnce(key, body, encoding);
    headers.set("Content-Encoding", encoding);
    headers.delete("Content-Length");
    updateDigest(headers, bytes);
    addVary(headers);
    return bytesResponse(bytes, { status, headers });
  };
}

/** Without the host, so that clients cannot fill the cache with copies. One resource may have several types. */
function resourceOf({ pathname, search }: URL): string {
  return `${search} ${decodeURIComponent(pathname)}`;
}

function isText({ headers }: Response): boolean {
  const type = headers.get("content-type")?.split(";", 1)[0];
  return type !== undefined && TEXT_TYPES.has(type) && !headers.has("content-encoding");
}

/** Sets `Repr-Digest`, if there is one, to that of the encoded bytes. */
function updateDigest(headers: Headers, bytes: Uint8Array): void {
  if (headers.has("Repr-Digest")) headers.set("Repr-Digest", reprDigest(bytes));
}

/** Tells caches that the response depends on Accept-Encoding. */
function addVary(headers: Headers): void {
  const vary = headers.get("vary");
  if (vary?.toLowerCase().includes("accept-encoding")) return;
  headers.set("Vary", vary === null ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
}
