/** Reads files once and serves them from memory, so that no request path reaches the file system. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { reply } from "../operation.ts";

export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** A strong ETag. */
  etag: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  // Browsers would download text/markdown instead of showing it.
  md: "text/plain; charset=utf-8",
  svg: "image/svg+xml",
};

/** Reads a file of this repository. Throws if the file does not exist or its type is not served. */
export function readStaticFile(url: URL): StaticFile {
  const extension = url.pathname.slice(url.pathname.lastIndexOf(".") + 1);
  const contentType = CONTENT_TYPES[extension];
  if (!contentType) throw new Error(`Cannot serve ${url.pathname}: its kind of file is not known`);
  return toStaticFile(new Uint8Array(readFileSync(url)), contentType);
}

/** Creates a static file from bytes. */
export function toStaticFile(bytes: Uint8Array<ArrayBuffer>, contentType: string): StaticFile {
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, contentType, etag: `"${digest}"` };
}

/** Returns the reply with a file. Caches must revalidate it, because scripts import each other by name. */
export function replyFile({ bytes, etag, contentType }: StaticFile, headers: Record<string, string> = {}) {
  const caching = { "Cache-Control": "no-cache" };
  return reply(200, bytes, { etag, headers: { "Content-Type": contentType, ...caching, ...headers } });
}
