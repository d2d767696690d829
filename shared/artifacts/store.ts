/** The interface of artifact stores: directories and buckets of finished organization exports. */

import { DeadlineExceeded } from "../process/with_timeout.ts";

/** A failure of the store, as opposed to one of the content. */
export class ArtifactStorageError extends Error {
  override readonly name = "ArtifactStorageError";
}

/** The content is too large for the store, now and later. Says what to do, without a period. */
export class ArtifactTooLargeError extends Error {
  override readonly name = "ArtifactTooLargeError";

  constructor(maxBytes: number) {
    super(
      `The file is too large: a bucket takes ${maxBytes.toLocaleString("en-US")} bytes. Export the projects one by one, or ` +
        "ask the operator to store artifacts in a directory (ARTIFACT_URL)",
    );
  }
}

/** A file in a store: an artifact, or one that is not finished. */
export interface StoredFile {
  name: string;
  /** Bytes; 0 for an unfinished upload to a bucket. */
  size: number;
  modifiedAt: Date;
}

/** First and last byte, both inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface ReadArtifact {
  /** Size of the whole artifact in bytes, from the job's row. */
  bytes: number;
  /** Default: the whole artifact. */
  range?: ByteRange;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
  /** Whether the response is finished or aborted. Then a fetched copy is deleted. */
  isOver: () => boolean;
}

/** Name of the file that says which database owns the store. */
export const MARKER_NAME = ".ulr-owner";

/** All methods throw ArtifactStorageError if the store fails. */
export interface ArtifactStore {
  /**
   * Writes `content` and makes it visible under `name` once all of it is stored. Errors of `content` pass through.
   * The caller prevents two writers of one name: a builder includes its attempt in the name. `signal` ends a wait for
   * the store. Throws ArtifactTooLargeError.
   */
  write(
    name: string,
    content: AsyncGenerator<Uint8Array, void, void>,
    signal?: AbortSignal,
  ): Promise<ContentDigest>;
  exists(name: string): Promise<boolean>;
  /**
   * Returns the artifact, or a range of it, as a file of known length that is read while it is sent; `null` if it does
   * not exist. A wrong length is a failure of the store. A read that has begun survives the artifact's removal.
   */
  read(name: string, options: ReadArtifact): Promise<Blob | null>;
  /**
   * Lists the files whose name begins with `start`, including those of killed builders, in no order. The store may change
   * meanwhile.
   */
  list(start?: string): AsyncGenerator<StoredFile, void, void>;
  /** Deletes the file if it exists, finished or not. */
  remove(name: string): Promise<void>;
  /** Returns the text of the marker, or `null` if there is none. */
  readMarker(): Promise<string | null>;
  /**
   * Creates the marker; returns false if there is one. One of several concurrent callers succeeds, except in a bucket
   * without conditional writes, which keeps the last one: read it again.
   */
  createMarker(text: string): Promise<boolean>;
  replaceMarker(text: string): Promise<void>;
}

/** Wraps a failure of `step` in ArtifactStorageError. */
export async function storing<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (cause) {
    throw storageError("it failed", cause);
  }
}

/**
 * Returns the error to throw when a store fails: the cause itself if a step has wrapped it. `reason` says what failed, for a
 * cause that does not.
 */
export function storageError(reason: string, cause?: unknown): ArtifactStorageError {
  if (cause instanceof ArtifactStorageError) return cause;
  return new ArtifactStorageError(`Cannot use the artifact storage: ${detailOf(reason, cause)}`, { cause });
}

function detailOf(reason: string, cause: unknown): string {
  if (cause instanceof DeadlineExceeded) {
    return `${reason}: no response within ${cause.timeoutMs / 1000} s. Check that ARTIFACT_URL leads to storage that can be reached`;
  }
  return cause instanceof Error ? cause.message : reason;
}

export interface ContentDigest {
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** Passes `content` on unchanged; `onEnd` gets its length and SHA-256 at the end. */
export async function* digestContent(
  content: AsyncGenerator<Uint8Array, void, void>,
  onEnd: (digest: ContentDigest) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    hasher.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  onEnd({ bytes, sha256: hasher.digest("hex") });
}
