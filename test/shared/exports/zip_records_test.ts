/** ZIPs with numbers that need ZIP64, and with times outside the range of ZIP's time field. */
import { expect, test } from "bun:test";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { BlobReader, type Entry, TextWriter, ZipReader } from "@zip.js/zip.js";
import {
  dataDescriptor,
  directoryHeader,
  endRecords,
  localHeader,
  toZipTime,
  type ZipHeader,
} from "../../../shared/exports/zip_records.ts";
import { streamZip, textEntry, type ZipEntry } from "../../../shared/exports/zip_stream.ts";

const MODIFIED_AT = "2026-11-20T10:00:00.000Z";
const GIB = 2 ** 30;
const MAX_32 = 2 ** 32 - 1;

function readEntries(zip: Blob): Promise<Entry[]> {
  return new ZipReader(new BlobReader(zip)).getEntries();
}

async function zipOf(entries: AsyncGenerator<ZipEntry, void, void>, modifiedAt = MODIFIED_AT): Promise<Blob> {
  const chunks = await Array.fromAsync(streamZip(entries, { modifiedAt }));
  return new Blob(chunks as Uint8Array<ArrayBuffer>[]);
}

test("dataDescriptor() writes 64-bit sizes only if a size needs more than 32 bits", () => {
  const sizes = { crc32: 1, bytes: MAX_32, compressedBytes: 5 };
  const small = dataDescriptor(sizes);
  expect([small.length, small.readUInt32LE(8), small.readUInt32LE(12)]).toEqual([16, 5, MAX_32]);
  const large = dataDescriptor({ ...sizes, bytes: 4 * GIB });
  expect([large.length, large.readBigUInt64LE(8), large.readBigUInt64LE(16)]).toEqual([24, 5n, 2n ** 32n]);
});

test("an entry at an offset above 4 GiB can be read, and the central directory supports sizes above 4 GiB", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-zip-records-"));
  try {
    const path = join(directory, "behind.zip");
    const content = Buffer.from("found");
    const compressed = deflateRawSync(content);
    const found: ZipHeader = {
      name: "found",
      modifiedAt: toZipTime(MODIFIED_AT),
      sizes: { crc32: crc32(content), bytes: content.length, compressedBytes: compressed.length },
    };
    const large = {
      ...found,
      name: "large",
      sizes: { ...found.sizes, bytes: 6 * GIB, compressedBytes: MAX_32 },
    };
    // The file is sparse, so unwritten bytes take no space.
    const file = await open(path, "w");
    const begin = 5 * GIB;
    const entry = Buffer.concat([localHeader(found), compressed, dataDescriptor(found.sizes)]);
    await file.write(entry, 0, entry.length, begin);
    const offset = begin + entry.length;
    const headers = Buffer.concat([directoryHeader(large, 0), directoryHeader(found, begin)]);
    const end = Buffer.concat([headers, endRecords({ entries: 2, bytes: headers.length, offset })]);
    await file.write(end, 0, end.length, offset);
    await file.close();
    const [first, second] = await readEntries(Bun.file(path));
    expect([first?.uncompressedSize, first?.compressedSize, first?.offset]).toEqual([6 * GIB, MAX_32, 0]);
    expect(second?.offset).toBe(begin);
    expect(second?.directory === false && (await second.getData(new TextWriter()))).toBe("found");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a central directory can list more than 65,535 entries", async () => {
  const sizes = { crc32: 0, bytes: 0, compressedBytes: 0 };
  const header = directoryHeader({ name: "a", modifiedAt: toZipTime(MODIFIED_AT), sizes }, 0);
  const headers = Buffer.concat(Array.from({ length: 65_536 }, () => header));
  const end = endRecords({ entries: 65_536, bytes: headers.length, offset: 0 });
  expect((await readEntries(new Blob([headers, end]))).length).toBe(65_536);
});

test("times outside ZIP's range are clamped to the first or last time of the range", async () => {
  for (const [modifiedAt, date] of [
    ["1970-01-01T00:00:00.000Z", "1980-01-01T00:00:00.000Z"],
    ["2039-05-06T07:08:10.000Z", "2039-05-06T07:08:10.000Z"],
    ["2500-01-01T00:00:00.000Z", "2107-12-31T23:59:58.000Z"],
  ] as const) {
    async function* entries() {
      yield textEntry("a", "x");
    }
    const [entry] = await readEntries(await zipOf(entries(), modifiedAt));
    expect(entry?.rawLastModDate).toBe(dosTimeOf(date));
  }
});

/** Converts a time to the 32-bit MS-DOS date and time of a ZIP header. */
function dosTimeOf(iso: string): number {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = iso.split(/\D/).map(Number);
  const fields: [number, number][] = [
    [year - 1980, 7],
    [month, 4],
    [day, 5],
    [hour, 5],
    [minute, 6],
    [second / 2, 5],
  ];
  return Number.parseInt(fields.map(([value, bits]) => value.toString(2).padStart(bits, "0")).join(""), 2);
}
