/** Opens the source of the catalog: a URL, a file or the bundled copy. */
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type DownloadOptions, documentTooLarge, download, isAllowedUrl, SourceError } from "./download.ts";

const BUNDLED = fileURLToPath(new URL("../shared/models/bundled/models.json.gz", import.meta.url));
/** The limit of 32 MiB applies to the compressed and to the decompressed document. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 32 * 2 ** 20 };

/** Overrides of the limits and the name resolution, for tests. */
export type SourceOptions = Partial<Pick<DownloadOptions, "timeoutMs" | "maxBytes" | "resolve">>;

export type LoadedSource =
  | { isUnchanged: true }
  | { isUnchanged: false; value: unknown; etag: string | null };

export interface LoadOptions extends Pick<DownloadOptions, "etag" | "signal"> {
  /** The timeout for a source on the network; 30 s if omitted. */
  timeoutMs?: number | undefined;
}

export interface CatalogSource {
  /** The name of the source in logs and tables: `bundled`, a path, or a URL without credentials, query and fragment. */
  label: string;
  /** Reads and parses the document. `etag` is the ETag of the last good sync, or `null`. Throws SourceError. */
  load(given: LoadOptions): Promise<LoadedSource>;
}

/** Opens the source that `CATALOG_SOURCE` specifies. Throws if its URL is not allowed. */
export function openSource(name: string, options: SourceOptions = {}): CatalogSource {
  const limits = { ...LIMITS, ...options };
  if (name === "bundled") return bundledSource();
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(name) ? urlSource(name, limits) : fileSource(name, limits.maxBytes);
}

/** Opens the copy that is bundled with the service. It is older, but always available. */
export function bundledSource(): CatalogSource {
  return { ...fileSource(BUNDLED, LIMITS.maxBytes), label: "bundled" };
}

function fileSource(path: string, maxBytes: number): CatalogSource {
  return {
    label: path,
    async load() {
      const bytes = await readFileWithin(path, maxBytes);
      return { isUnchanged: false, value: parseDocument(bytes, maxBytes), etag: null };
    },
  };
}

async function readFileWithin(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxBytes) throw documentTooLarge(maxBytes);
    return await file.readFile();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new SourceError(`the file cannot be read: ${code}`, { cause: error });
  }
}

function urlSource(name: string, limits: SourceOptions & typeof LIMITS): CatalogSource {
  const url = URL.parse(name);
  if (!url || !isAllowedUrl(url)) {
    throw new Error("CATALOG_SOURCE must be an https URL, or an http URL of this machine");
  }
  return {
    label: `${url.origin}${url.pathname}`,
    async load({ etag, signal, timeoutMs = limits.timeoutMs }) {
      const answer = await download(url, { ...limits, timeoutMs, etag, signal });
      if (!answer) return { isUnchanged: true };
      return { isUnchanged: false, value: parseDocument(answer.bytes, limits.maxBytes), etag: answer.etag };
    },
  };
}

/** Parses JSON, which may be compressed. Throws SourceError if the document is not JSON. */
function parseDocument(bytes: Uint8Array, maxBytes: number): unknown {
  try {
    // Detects gzip by the first bytes, because the file may have any name.
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const plain = isGzip ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes;
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
      throw documentTooLarge(maxBytes);
    const message = error instanceof Error ? error.message : String(error);
    throw new SourceError(`the document is not JSON: ${message}`, { cause: error });
  }
}
