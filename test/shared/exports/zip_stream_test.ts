import { expect, test } from "bun:test";
import { BlobReader, ZipReader } from "@zip.js/zip.js";
import { streamZip, type ZipEntry } from "../../../shared/exports/zip_stream.ts";

const MODIFIED_AT = "2026-11-20T10:00:00.000Z";

/** Records the order in which the contents and the entry generator close. */
class Ends {
  readonly names: string[] = [];

  /**
   * Yields `chunks` random chunks, or throws before chunk `failAt`. Cleanup takes several turns of the event loop, as if it
   * had to wait for a server.
   */
  async *content(name: string, chunks: number, failAt = Number.POSITIVE_INFINITY) {
    try {
      for (let n = 0; n < chunks; n += 1) {
        if (n === failAt) throw new Error("Cannot read on: the source is gone");
        yield crypto.getRandomValues(new Uint8Array(60_000));
      }
    } finally {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      this.names.push(name);
    }
  }

  async *entries(entries: readonly ZipEntry[]): AsyncGenerator<ZipEntry, void, void> {
    try {
      yield* entries;
    } finally {
      this.names.push("entries");
    }
  }
}

test("streamZip() closes each entry's content, then the entry generator, when the ZIP is read completely", async () => {
  const ends = new Ends();
  const zip = streamZip(
    ends.entries([
      { name: "a", content: ends.content("a", 3) },
      { name: "b", content: ends.content("b", 0) },
    ]),
    { modifiedAt: MODIFIED_AT },
  );
  const bytes = Buffer.concat(await Array.fromAsync(zip));
  const entries = await new ZipReader(new BlobReader(new Blob([bytes]))).getEntries();
  expect(entries.map((entry) => [entry.filename, entry.uncompressedSize])).toEqual([
    ["a", 180_000],
    ["b", 0],
  ]);
  expect(ends.names).toEqual(["a", "b", "entries"]);
});

test("streamZip() rethrows an entry's error, and the partial file cannot be opened", async () => {
  const ends = new Ends();
  const zip = streamZip(
    ends.entries([
      { name: "a", content: ends.content("a", 1) },
      { name: "b", content: ends.content("b", 50, 40) },
      { name: "c", content: ends.content("c", 1) },
    ]),
    { modifiedAt: MODIFIED_AT },
  );
  const chunks: Uint8Array[] = [];
  const error = await (async () => {
    for await (const chunk of zip) chunks.push(chunk);
  })().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("the source is gone");
  expect(ends.names).toEqual(["a", "b", "entries"]);
  const reader = new ZipReader(new BlobReader(new Blob(chunks as Uint8Array<ArrayBuffer>[])));
  expect(
    await reader.getEntries().then(
      () => "opened",
      () => "refused",
    ),
  ).toBe("refused");
});

test("streamZip() closes the current content, then the entry generator, when its consumer stops", async () => {
  const ends = new Ends();
  const zip = streamZip(
    ends.entries([
      { name: "a", content: ends.content("a", 1) },
      { name: "b", content: ends.content("b", 10_000) },
    ]),
    { modifiedAt: MODIFIED_AT },
  );
  let bytes = 0;
  for await (const chunk of zip) {
    bytes += chunk.length;
    if (bytes > 200_000) break;
  }
  expect(ends.names).toEqual(["a", "b", "entries"]);
});

test("streamZip() closes the content, then the entry generator, when a chunk cannot be compressed", async () => {
  const ends = new Ends();
  const broken = async function* () {
    try {
      yield* ends.content("head", 3);
      yield { length: "is no number" } as unknown as Uint8Array;
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
      ends.names.push("broken");
    }
  };
  const zip = streamZip(ends.entries([{ name: "a", content: broken() }]), { modifiedAt: MODIFIED_AT });
  expect(await Array.fromAsync(zip).catch((error: unknown) => error)).toBeInstanceOf(Error);
  expect(ends.names).toEqual(["head", "broken", "entries"]);
});
