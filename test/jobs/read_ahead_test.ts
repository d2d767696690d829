/** Tests that entries are read while earlier entries are compressed. */
import { expect, test } from "bun:test";
import { readAhead } from "../../jobs/read_ahead.ts";
import type { ZipEntry } from "../../shared/exports/zip_stream.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Returns entries with the given chunks, and a log of every read, end and close. */
function openEntries(given: Record<string, readonly string[]>) {
  const notes: string[] = [];
  async function* content(name: string, chunks: readonly string[]) {
    try {
      for (const chunk of chunks) {
        notes.push(`read ${chunk}`);
        if (chunk === "broken") throw new Error("Cannot read");
        yield bytes(chunk);
      }
      notes.push(`end ${name}`);
    } finally {
      notes.push(`close ${name}`);
    }
  }
  async function* entries(): AsyncGenerator<ZipEntry, void, void> {
    try {
      for (const [name, chunks] of Object.entries(given)) yield { name, content: content(name, chunks) };
    } finally {
      notes.push("close entries");
    }
  }
  return { notes, entries: entries() };
}

async function readAll(entries: AsyncGenerator<ZipEntry, void, void>): Promise<[string, string][]> {
  const read: [string, string][] = [];
  for await (const { name, content } of entries) {
    let text = "";
    for await (const chunk of content) text += new TextDecoder().decode(chunk);
    read.push([name, text]);
  }
  return read;
}

test("yields all entries in their original order", async () => {
  const { entries, notes } = openEntries({ a: ["1", "2", "3"], b: [], c: ["4"], d: [], e: [] });
  expect(await readAll(readAhead(entries))).toEqual([
    ["a", "123"],
    ["b", ""],
    ["c", "4"],
    ["d", ""],
    ["e", ""],
  ]);
  expect(notes.at(-1)).toBe("close entries");
});

test("reads exactly one entry ahead, after the last chunk of the current entry is consumed", async () => {
  const { entries, notes } = openEntries({ a: ["1", "2"], b: ["3", "4"], c: ["5"] });
  const ahead = readAhead(entries);
  const first = await ahead.next();
  const chunks = first.value?.content[Symbol.asyncIterator]();
  await chunks?.next();
  await Bun.sleep(1);
  expect(notes).toEqual(["read 1", "read 2"]);
  await chunks?.next();
  await Bun.sleep(1);
  expect(notes).toEqual(["read 1", "read 2", "end a", "close a", "read 3"]);
  await chunks?.return?.();
  await ahead.return();
  expect(notes.slice(5)).toEqual(["close b", "close entries"]);
});

test("closes all open entries when the consumer returns early", async () => {
  const { entries, notes } = openEntries({ a: ["1", "2"], b: ["3"] });
  const ahead = readAhead(entries);
  for await (const { content } of ahead) {
    for await (const chunk of content) {
      expect(chunk).toEqual(bytes("1"));
      break;
    }
    break;
  }
  expect(notes.toSorted()).toEqual(["close a", "close entries", "read 1", "read 2"]);
});

test("throws a broken entry's error when the consumer reaches that entry, and closes the entries", async () => {
  const { entries, notes } = openEntries({ a: ["1"], b: ["broken"], c: ["2"] });
  const names: string[] = [];
  const reading = (async () => {
    for await (const { name, content } of readAhead(entries)) {
      names.push(name);
      for await (const chunk of content) expect(chunk).toEqual(bytes("1"));
      // Gives an unhandled rejection time to surface.
      await Bun.sleep(1);
    }
  })();
  await expect(reading).rejects.toThrow("Cannot read");
  expect(names).toEqual(["a"]);
  expect(notes.at(-1)).toBe("close entries");
});
