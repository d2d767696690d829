/** The interface of artifact stores. A store is a directory or bucket of finished organization exports. */

import { DeadlineExceeded } from "../process/with_timeout.ts";

/** A failure of the store, as opposed to a failure of the content. */
export class ArtifactStorageError extends Error {
  override readonly name = "ArtifactStorageError";
}

/** The content is too large for the store, so a retry is useless. The message says what to do, without a final period. */
export class ArtifactTooLargeError extends Error {
  override readonly name = "ArtifactTooLargeError";

  constructor(maxBytes: number) {
    super(
      `The file is too large: a bucket takes ${maxBytes.toLocaleString("en-US")} bytes. Export the projects one by one, or ` +
        "ask the operator to store artifacts in a directory (ARTIFACT_URL)",
    );
  }
}

/** A file in a store: an artifact or an unfinished file. */
export interface StoredFile {
  name: string;
  /** The size in bytes; 0 for an unfinished upload to a bucket. */
  size: number;
  modifiedAt: Date;
}

/** The first and the last byte of a range, both inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface ReadArtifact {
  /** The size of the whole artifact in bytes, from the job's row. */
  bytes: number;
  /** The range to read. Defaults to the whole artifact. */
  range?: ByteRange;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
  /** Returns true if the response is finished or aborted. A fetched copy is then deleted. */
  isOver: () => boolean;
}

/** The name of the file that identifies the database that owns the store. */
export const MARKER_NAME = ".ulr-owner";

/** A store of artifacts. All methods throw ArtifactStorageError if the store fails. */
export interface ArtifactStore {
  /**
   * Writes `content` and makes it visible as `name` when all of it is stored. Rethrows errors of `content`. The caller must
   * prevent concurrent writers of a name; builders include their attempt in the name. `signal` ends a wait for the store.
   * Throws ArtifactTooLargeError.
   */
  write(
    name: string,
    content: AsyncGenerator<Uint8Array, void, void>,
    signal?: AbortSignal,
  ): Promise<ContentDigest>;
  exists(name: string): Promise<boolean>;
  /**
   * Returns the artifact, or a range of it, as a file of known length that is read while it is sent. Returns `null` if the
   * artifact does not exist. Throws ArtifactStorageError if the length is wrong. If the artifact is removed, reads in
   * progress continue.
   */
  read(name: string, options: ReadArtifact): Promise<Blob | null>;
  /**
   * Lists the files whose name starts with `start`, in any order. Includes the files of killed builders. The store may change
   * during the listing.
   */
  list(start?: string): AsyncGenerator<StoredFile, void, void>;
  /** Deletes the file if it exists, complete or partial. */
  remove(name: string): Promise<void>;
  /** Returns the content of the marker, or `null` if there is no marker. */
  readMarker(): Promise<string | null>;
  /**
   * Creates the marker. Returns false if a marker exists. Only one of several concurrent callers succeeds. A bucket without
   * conditional writes is an exception: it keeps the last marker, so the caller must read the marker again.
   */
  createMarker(text: string): Promise<boolean>;
  replaceMarker(text: string): Promise<void>;
}

/** Awaits `step` and wraps its failure in ArtifactStorageError. */
export async function storing<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (cause) {
    throw storageError("it failed", cause);
  }
}

/**
 * Returns the error to throw when a store fails. Returns `cause` itself if it is an ArtifactStorageError already. `reason`
 * describes the failure if `cause` does not.
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
  /** The hash as a hex string. */
  sha256: string;
}

/** Yields `content` unchanged. Calls `onEnd` with the length and the SHA-256 at the end. */
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
