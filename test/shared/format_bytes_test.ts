import { expect, test } from "bun:test";
import { formatBytes } from "../../shared/format_bytes.ts";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [2460, "2.5 kB"],
  [999_499, "999 kB"],
  [999_500, "1 MB"],
  [12_345_678, "12 MB"],
  [999_999_999, "1 GB"],
  [5_000_000_000_000_000, "5,000 TB"],
])("formatBytes(%p) returns %p", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
