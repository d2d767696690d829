/** Overlaps reading and compression: the database reads the next file while the previous file is compressed. */
import { setImmediate } from "node:timers/promises";
import type { ZipEntry } from "../shared/exports/zip_stream.ts";

type Entries = AsyncGenerator<ZipEntry, void, void>;

/** An entry whose first chunk has been read. */
interface Begun {
  name: string;
  chunks: AsyncIterator<Uint8Array>;
  first: IteratorResult<Uint8Array>;
}

/** Yields the same entries. Reads the first chunk of an entry as soon as the previous entry has been read completely. */
export async function* readAhead(entries: Entries): Entries {
  let next = begin(entries);
  try {
    for (let begun = await next; begun; begun = await next) {
      const { name } = begun;
      const beginNext = (): void => {
        next = begin(entries);
      };
      yield { name, content: passOn(begun, beginNext) };
    }
  } finally {
    const begun = await next.catch(() => null);
    await begun?.chunks.return?.();
    await entries.return();
  }
}

function begin(entries: Entries): Promise<Begun | null> {
  const begun = readFirst(entries);
  // `readAhead` awaits the promise later. Until then, a rejection counts as handled.
  begun.catch(() => {});
  return begun;
}

async function readFirst(entries: Entries): Promise<Begun | null> {
  const entry = await entries.next();
  if (entry.done) return null;
  const { name, content } = entry.value;
  const chunks = content[Symbol.asyncIterator]();
  return { name, chunks, first: await chunks.next() };
}

async function* passOn({ chunks, first }: Begun, onEnd: () => void): AsyncGenerator<Uint8Array, void, void> {
  const finish = async (): Promise<void> => {
    onEnd();
    // The query must be sent before compression blocks the event loop.
    await setImmediate();
  };
  if (first.done) await finish();
  for (let chunk = first; !chunk.done; ) {
    const following = chunks.next().then(async (result) => {
      if (result.done) await finish();
      return result;
    });
    following.catch(() => {});
    yield chunk.value;
    chunk = await following;
  }
}
