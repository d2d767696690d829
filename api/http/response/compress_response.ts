/** Compresses responses. The request pipeline calls it for every route, so routes return uncompressed text. */
import { availableParallelism } from "node:os";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { bytesIn, bytesResponse } from "../bytes_response.ts";
import type { RequestContext } from "../request_context.ts";
import { type ContentEncoding, chooseEncoding, encode, encodedTag } from "./content_encoding.ts";
import { reprDigest } from "./repr_digest.ts";

/** Below this size, compressing takes longer than it saves (measured: 40 to 140 µs for 4 KiB). */
const MIN_BYTES = 4 * 1024;
/** Size of the cache. It holds about a hundred pages of the model catalog. */
const MAX_KEPT_BYTES = 16 * 2 ** 20;
/** Approximate overhead of a cache entry. */
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
 * Creates the compressor of one process. It returns a response in the encoding that the request accepts, and caches compressed
 * texts by resource and ETag. Files are not compressed.
 */
export function createCompressResponse() {
  const kept = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (bytes, key) => bytes.length + 2 * key.length + ENTRY_BYTES,
  });

  // Leaves one processor for the event loop.
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
      // The digest of the encoded bytes is not known here.
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

/** Returns the resource for the cache key. It excludes the host, so that clients cannot fill the cache with copies. */
function resourceOf({ pathname, search }: URL): string {
  return `${search} ${decodeURIComponent(pathname)}`;
}

function isText({ headers }: Response): boolean {
  const type = headers.get("content-type")?.split(";", 1)[0];
  return type !== undefined && TEXT_TYPES.has(type) && !headers.has("content-encoding");
}

/** Updates `Repr-Digest`, if it is set, to the digest of the encoded bytes. */
function updateDigest(headers: Headers, bytes: Uint8Array): void {
  if (headers.has("Repr-Digest")) headers.set("Repr-Digest", reprDigest(bytes));
}

/** Adds `Vary: Accept-Encoding` for caches. */
function addVary(headers: Headers): void {
  const vary = headers.get("vary");
  if (vary?.toLowerCase().includes("accept-encoding")) return;
  headers.set("Vary", vary === null ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
}
