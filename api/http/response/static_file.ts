/** Files that are read once and served from memory, so that no request path reaches the file system. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { reply } from "../operation.ts";

export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** A strong tag. */
  etag: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  // As text/markdown, browsers would save it to a file.
  md: "text/plain; charset=utf-8",
  svg: "image/svg+xml",
};

/** Reads a file of this repository. Throws if it does not exist or its type is not served. */
export function readStaticFile(url: URL): StaticFile {
  const extension = url.pathname.slice(url.pathname.lastIndexOf(".") + 1);
  const contentType = CONTENT_TYPES[extension];
  if (!contentType) throw new Error(`Cannot serve ${url.pathname}: its kind of file is not known`);
  return toStaticFile(new Uint8Array(readFileSync(url)), contentType);
}

/** Makes a file of constant bytes. */
export function toStaticFile(bytes: Uint8Array<ArrayBuffer>, contentType: string): StaticFile {
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, contentType, etag: `"${digest}"` };
}

/** The reply of a conditional operation with the file: scripts import each other by name, and versions must not mix. */
export function replyFile({ bytes, etag, contentType }: StaticFile, headers: Record<string, string> = {}) {
  const caching = { "Cache-Control": "no-cache" };
  return reply(200, bytes, { etag, headers: { "Content-Type": contentType, ...caching, ...headers } });
}
