/** Writes the file of a build to the artifact store. The write can be aborted at any time. */

import type { ArtifactStore, ContentDigest } from "../shared/artifacts/store.ts";
import { settlesWithin, untilAborted } from "../shared/process/with_timeout.ts";

type Content = AsyncGenerator<Uint8Array, void, void>;

/** How long a store may take to clean up after an abort. */
const CLEAN_UP_MS = 1500;

export interface ArtifactContent {
  key: string;
  /** Aborted when the file is no longer needed. */
  signal: AbortSignal;
  /** Opens the content. Its pending reads end when the given signal is aborted. */
  open: (signal: AbortSignal) => Content;
}

/**
 * Writes the content and always closes it. When `signal` is aborted, reading the content fails, and the store has some time to
 * clean up. After that time the write is abandoned, and the sweep deletes the store's file.
 */
export async function writeArtifact(
  store: ArtifactStore,
  { key, signal, open }: ArtifactContent,
): Promise<ContentDigest> {
  const cutOff = new AbortController();
  const content = abortOnReturn(open(AbortSignal.any([signal, cutOff.signal])), cutOff);
  signal.throwIfAborted();
  const writing = store.write(key, failWhenAborted(content, signal), signal);
  try {
    return await untilAborted(writing, signal).catch(async (reason: unknown) => {
      if (await settlesWithin(writing, CLEAN_UP_MS)) return writing;
      throw reason;
    });
  } finally {
    writing.catch(() => {});
    await content.return();
  }
}

/** Yields the same content. Throws if `signal` is aborted, so that a partial file never looks complete. */
async function* failWhenAborted(content: Content, signal: AbortSignal): Content {
  for await (const chunk of content) {
    yield chunk;
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** Yields the same chunks. `return()` also calls `abort`, because a generator ignores `return()` while it waits for a chunk. */
function abortOnReturn(chunks: Content, abort: AbortController): Content {
  const end = (): Promise<IteratorResult<Uint8Array, void>> => {
    abort.abort();
    return chunks.return();
  };
  return {
    next: () => chunks.next(),
    return: end,
    throw: (error) => chunks.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}
