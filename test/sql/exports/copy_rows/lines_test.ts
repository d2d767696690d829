import { expect, test } from "bun:test";
import fc from "fast-check";
import { CopyLines } from "../../../../sql/exports/copy_rows.ts";
import { FORMATS } from "../../../../sql/exports/dataset_file.ts";

function readAll(lines: CopyLines): string {
  return Buffer.concat([...lines.full, lines.rest()]).toString();
}

const row = fc.oneof(
  fc.string(),
  fc.integer({ min: 0, max: 300_000 }).map((length) => "x".repeat(length)),
);

test("CopyLines ends each line as the format requires, whatever the line contains", () => {
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 12 }),
      fc.constantFrom("ndjson" as const, "csv" as const),
      (rows, format) => {
        const lines = new CopyLines(FORMATS[format].copy([]));
        for (const text of rows) lines.add(Buffer.from(`${text}\n`));
        const end = format === "csv" ? "\r\n" : "\n";
        expect(readAll(lines)).toBe(rows.map((text) => text + end).join(""));
      },
    ),
    { numRuns: 200 },
  );
});

/** Control characters other than LF, and the line and paragraph separators. Python's splitlines() splits at some of them. */
const LINE_ENDS = /[^\P{Cc}\n]|[\u2028\u2029]/u;

test("CopyLines keeps each JSON document on one line for every reader, without changing its value", () => {
  const text = fc.string({
    unit: fc.constantFrom(...'a\\"é—漢\r\n\v\f\u001c\u0085\u2028\u2029'),
    maxLength: 40,
  });
  fc.assert(
    fc.property(fc.array(fc.dictionary(text, text), { maxLength: 8 }), (documents) => {
      const lines = new CopyLines(FORMATS.ndjson.copy([]));
      for (const document of documents) lines.add(Buffer.from(`${JSON.stringify(document)}\n`));
      const read = readAll(lines);
      expect(read).not.toMatch(LINE_ENDS);
      expect(
        read
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      ).toEqual(documents);
    }),
    { numRuns: 500, seed: 20_261_125 },
  );
});

test("CopyLines escapes line ends in every chunk of NDJSON, and leaves CSV and Parquet unchanged", () => {
  const row = `{"a":"${"x".repeat(200_000)}\u2028"}\n`;
  for (const format of ["ndjson", "csv", "parquet"] as const) {
    const lines = new CopyLines(FORMATS[format].copy([]));
    for (let count = 0; count < 5; count += 1) lines.add(Buffer.from(row));
    const escaped = readAll(lines).split("\\u2028").length - 1;
    expect([format, escaped]).toEqual([format, format === "ndjson" ? 5 : 0]);
  }
});

test("CopyLines splits chunks only between lines", () => {
  const lines = new CopyLines(FORMATS.ndjson.copy([]));
  for (const length of [200_000, 100_000, 262_143, 262_144, 3_000_000, 1]) {
    lines.add(Buffer.from(`${"x".repeat(length)}\n`));
  }
  const sizes = lines.full.map(({ length }) => length);
  expect([...sizes, lines.rest().length]).toEqual([200_001, 100_001, 262_144, 262_145, 3_000_001, 2]);
});
