/** The records of a ZIP according to APPNOTE.TXT 6.3: headers, data descriptor, central directory and end records. */

/** A compressed entry. A data descriptor after the content contains its sizes. */
export interface ZipHeader {
  name: string;
  modifiedAt: Date;
  sizes: ZipSizes;
}

export interface ZipSizes {
  crc32: number;
  bytes: number;
  compressedBytes: number;
}

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
const DIRECTORY_HEADER = 0x02014b50;
const END = 0x06054b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;

const DEFLATE = 8;
const VERSION = 20;
const ZIP64_VERSION = 45;
const DESCRIPTOR_FLAG = 0x8;
const UTF8_FLAG = 0x800;
/** The host system is Unix, and the attributes are `rw-r--r--` of a regular file. */
const UNIX = 3 << 8;
const FILE_ATTRIBUTES = (0o100_644 << 16) >>> 0;
/** The maximum values of 32 and 16 bits mean that the actual value is in a ZIP64 record. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
const ZIP64_FIELD = 0x0001;
/** The extra field for the time in seconds since 1970, because the header's time has no time zone. */
const UNIX_TIME_FIELD = 0x5455;
const MAX_UNIX_TIME = 0x7fff_ffff;
/** The range of times that a header can represent. */
const FIRST_TIME = Date.UTC(1980, 0, 1);
const LAST_TIME = Date.UTC(2107, 11, 31, 23, 59, 58);

/** Returns the time nearest to `iso` that a ZIP can represent. */
export function toZipTime(iso: string): Date {
  return new Date(Math.min(Math.max(Date.parse(iso), FIRST_TIME), LAST_TIME));
}

/** Returns the header before the content of an entry, whose sizes are not known yet. */
export function localHeader({ name, modifiedAt }: Omit<ZipHeader, "sizes">): Buffer {
  const path = Buffer.from(name);
  const time = unixTimeField(modifiedAt);
  return Buffer.concat([
    uint32(LOCAL_HEADER),
    uint16(VERSION),
    commonFields(modifiedAt, { crc32: 0, bytes: 0, compressedBytes: 0 }),
    uint16(path.length, time.length),
    path,
    time,
  ]);
}

/**
 * Returns the record after the content of an entry. The sizes have 32 bits unless one of them needs 64 bits. A program that
 * reads the ZIP as a stream has counted both sizes by then. Java's ZipInputStream expects 64 bits if and only if it has
 * counted more than 4 GiB.
 */
export function dataDescriptor({ crc32, compressedBytes, bytes }: ZipSizes): Buffer {
  const sizes = Math.max(compressedBytes, bytes) > MAX_32 ? uint64 : uint32;
  return Buffer.concat([uint32(DATA_DESCRIPTOR, crc32), sizes(compressedBytes, bytes)]);
}

/** Returns an entry of the central directory. `offset` is the position of the entry's local header. */
export function directoryHeader({ name, modifiedAt, sizes }: ZipHeader, offset: number): Buffer {
  const { bytes, compressedBytes } = sizes;
  const path = Buffer.from(name);
  const large = [bytes, compressedBytes, offset].filter((number) => number >= MAX_32);
  const zip64 = large.length === 0 ? [] : [uint16(ZIP64_FIELD, large.length * 8), uint64(...large)];
  const extra = Buffer.concat([...zip64, unixTimeField(modifiedAt)]);
  const version = large.length === 0 ? VERSION : ZIP64_VERSION;
  return Buffer.concat([
    uint32(DIRECTORY_HEADER),
    uint16(UNIX | version, version),
    commonFields(modifiedAt, sizes),
    // No comment, first disk, no internal attributes.
    uint16(path.length, extra.length, 0, 0, 0),
    uint32(FILE_ATTRIBUTES, Math.min(offset, MAX_32)),
    path,
    extra,
  ]);
}

/** Returns the end-of-central-directory records, with those of ZIP64 if needed, for a central directory that starts at `offset`. */
export function endRecords(directory: { entries: number; bytes: number; offset: number }): Buffer {
  const { entries, bytes, offset } = directory;
  const isZip64 = entries >= MAX_16 || bytes >= MAX_32 || offset >= MAX_32;
  const zip64 = [
    uint32(ZIP64_END),
    // The length of the rest of this record.
    uint64(44),
    uint16(UNIX | ZIP64_VERSION, ZIP64_VERSION),
    uint32(0, 0),
    uint64(entries, entries, bytes, offset),
    uint32(ZIP64_LOCATOR, 0),
    uint64(offset + bytes),
    uint32(1),
  ];
  const count = Math.min(entries, MAX_16);
  return Buffer.concat([
    ...(isZip64 ? zip64 : []),
    uint32(END),
    uint16(0, 0, count, count),
    uint32(Math.min(bytes, MAX_32), Math.min(offset, MAX_32)),
    uint16(0),
  ]);
}

/** Returns the fields from the flags to the sizes, which both headers contain. */
function commonFields(modifiedAt: Date, { crc32, compressedBytes, bytes }: ZipSizes): Buffer {
  return Buffer.concat([
    uint16(UTF8_FLAG | DESCRIPTOR_FLAG, DEFLATE),
    uint32(toDosTime(modifiedAt), crc32, Math.min(compressedBytes, MAX_32), Math.min(bytes, MAX_32)),
  ]);
}

/** Returns the extra field with the Unix time; empty after January 2038. */
function unixTimeField(date: Date): Buffer {
  const seconds = Math.floor(date.getTime() / 1000);
  if (seconds > MAX_UNIX_TIME) return Buffer.alloc(0);
  return Buffer.concat([uint16(UNIX_TIME_FIELD, 5), Buffer.of(1), uint32(seconds)]);
}

/** Returns the 32-bit date and time of a header, in UTC, with a resolution of two seconds. */
function toDosTime(date: Date): number {
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}

function uint16(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 2);
  for (const [index, number] of numbers.entries()) buffer.writeUInt16LE(number, index * 2);
  return buffer;
}

function uint32(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) buffer.writeUInt32LE(number, index * 4);
  return buffer;
}

function uint64(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 8);
  for (const [index, number] of numbers.entries()) buffer.writeBigUInt64LE(BigInt(number), index * 8);
  return buffer;
}
