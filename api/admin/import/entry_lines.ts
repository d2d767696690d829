/** Reads an entry of lines in one pass: each line is checked, the whole is measured, and the bytes are passed on. */

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
  /** Called with each line, without its line feed, before the chunk that completes it is passed on. */
  onLine: (line: string) => void;
}

/**
 * Passes `content` on unchanged and updates `meter`. Keeps one line in memory: throws RangeError if it is longer than
 * `maxLineBytes`, before the rest of it is passed on.
 */
export async function* readLines(
  content: AsyncGenerator<Uint8Array, void, void>,
  { meter, maxLineBytes, onLine }: LineReader,
): AsyncGenerator<Uint8Array, void, void> {
  const hasher = new Bun.CryptoHasher("sha256");
  let parts: Uint8Array[] = [];
  let lineBytes = 0;
  const extendLine = (part: Uint8Array): void => {
    parts.push(part);
    lineBytes += part.length;
    if (lineBytes <= maxLineBytes) return;
    throw new RangeError(`Cannot read line ${meter.lines + 1}: it is longer than ${maxLineBytes} bytes`);
  };
  const endLine = (): void => {
    const line = Buffer.concat(parts, lineBytes).toString("utf8");
    parts = [];
    lineBytes = 0;
    meter.lines += 1;
    onLine(line);
  };
  for await (const chunk of content) {
    hasher.update(chunk);
    meter.bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      extendLine(chunk.subarray(start, end));
      endLine();
      start = end + 1;
    }
    extendLine(chunk.subarray(start));
    yield chunk;
  }
  if (lineBytes > 0) endLine();
  meter.sha256 = hasher.digest("hex");
}
