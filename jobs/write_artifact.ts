/** Writes the file of a build into the artifact store; can be aborted in the middle. */

import type { ArtifactStore, ContentDigest } from "../shared/artifacts/store.ts";
import { settlesWithin, untilAborted } from "../shared/process/with_timeout.ts";

type Content = AsyncGenerator<Uint8Array, void, void>;

/** How long a store may take to clean up after an abort. */
const CLEAN_UP_MS = 1500;

export interface ArtifactContent {
  key: string;
  /** Aborted when the file is no longer needed. */
  signal: AbortSignal;
  /** Creates the content; its waits end when the given signal is aborted. */
  open: (signal: AbortSignal) => Content;
}

/**
 * Writes the content and always ends it. When `signal` is aborted, the store gets an error in place of more content and
 * some time to clean up. After that the store is abandoned, and the sweep deletes its file.
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

/** Yields the same content; fails if `signal` is aborted, so that a part never looks complete. */
async function* failWhenAborted(content: Content, signal: AbortSignal): Content {
  for await (const chunk of content) {
    yield chunk;
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** Yields the same chunks. A generator ignores `return()` while it waits for a chunk, so `abort` ends the wait. */
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
