/** Counts the rows of an exported file. */

const LINE_FEED = 10;
const QUOTE = 34;

/**
 * Returns the number of NDJSON lines, or of CSV records without the header. Adds 0.5 if the last line end is missing.
 */
export function countRows(content: Buffer, format: string): number {
  const lines = format === "csv" ? countRecords(content) - 1 : countLines(content);
  const isWhole = content.length === 0 || content.at(-1) === LINE_FEED;
  return isWhole ? lines : lines + 0.5;
}

function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(LINE_FEED); at >= 0; at = content.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}

/** Counts CSV records. A line break inside quotes does not end a record. */
function countRecords(content: Buffer): number {
  let records = 0;
  let isQuoted = false;
  for (const byte of content) {
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === LINE_FEED && !isQuoted) records += 1;
  }
  return records;
}
