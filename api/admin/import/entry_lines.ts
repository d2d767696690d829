/** Reads an entry of lines in one pass, and measures it. */
import { isUtf8 } from "node:buffer";

const LINE_FEED = 10;

interface LineMeter {
  /** Lines so far; at the end, text after the last line feed counts as a line. */
  lines: number;
  bytes: number;
  /** Hex; empty until the end. */
  sha256: string;
}

interface LineReader {
  meter: LineMeter;
  maxLineBytes: number;
}

/**
 * Yields the lines that each chunk completes, without their line feeds, and updates `meter`. A line that is not UTF-8 is
 * empty: neither is JSON. Keeps one line in memory: throws RangeError if it is longer than `maxLineBytes`.
 */
export async function* readLines(
  content: AsyncGenerator<Uint8Array, void, void>,
  { meter, maxLineBytes }: LineReader,
): AsyncGenerator<string[], void, void> {
  const hasher = new Bun.CryptoHasher("sha256");
  let parts: Uint8Array[] = [];
  let lineBytes = 0;
  const extendLine = (part: Uint8Array): void => {
    parts.push(part);
    lineBytes += part.length;
    if (lineBytes <= maxLineBytes) return;
    throw new RangeError(`Cannot read line ${meter.lines + 1}: it is longer than ${maxLineBytes} bytes`);
  };
  const endLine = (): string => {
    const line = Buffer.concat(parts, lineBytes);
    parts = [];
    lineBytes = 0;
    meter.lines += 1;
    return isUtf8(line) ? line.toString("utf8") : "";
  };
  for await (const chunk of content) {
    hasher.update(chunk);
    meter.bytes += chunk.length;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      extendLine(chunk.subarray(start, end));
      lines.push(endLine());
      start = end + 1;
    }
    extendLine(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (lineBytes > 0) yield [endLine()];
  meter.sha256 = hasher.digest("hex");
}
