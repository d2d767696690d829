import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { readLines } from "../../../../../api/admin/import/import_project.ts";

/** Passes the parts to `readLines` as chunks. Returns the lines and the meter. */
async function read(parts: readonly string[], maxLineBytes = 1000) {
  async function* content() {
    for (const part of parts) yield Buffer.from(part);
  }
  const meter = { lines: 0, bytes: 0, sha256: "" };
  const lines = await Array.fromAsync(readLines(content(), { meter, maxLineBytes }));
  return { lines: lines.flat(), meter };
}

test("readLines() returns and measures the same lines however the content is split into chunks", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "é", "🚀") });
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (parts) => {
      const whole = parts.join("");
      const lines = whole.split("\n");
      // A final line feed does not start another line.
      if (lines.at(-1) === "") lines.pop();
      expect(await read(parts)).toEqual({
        lines,
        meter: {
          lines: lines.length,
          bytes: Buffer.byteLength(whole),
          sha256: createHash("sha256").update(whole).digest("hex"),
        },
      });
    }),
  );
});

test.each([1, 2, 3, 7, 1000])(
  "readLines() joins characters that are split across chunks of %p bytes",
  async (size) => {
    const bytes = Buffer.from("first\n\nthird, with é and 🚀\nlast, without an end");
    async function* content() {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    }
    const meter = { lines: 0, bytes: 0, sha256: "" };
    const lines = await Array.fromAsync(readLines(content(), { meter, maxLineBytes: 1000 }));
    expect(lines.flat()).toEqual(bytes.toString().split("\n"));
  },
);

test("readLines() returns an empty line for a line that is not UTF-8", async () => {
  async function* content() {
    yield Buffer.from('{"a": "é"}\n');
    yield Buffer.from('{"a": "é"}\n{}', "latin1");
  }
  const meter = { lines: 0, bytes: 0, sha256: "" };
  const lines = await Array.fromAsync(readLines(content(), { meter, maxLineBytes: 1000 }));
  expect(lines.flat()).toEqual(['{"a": "é"}', "", "{}"]);
});

test("readLines() refuses a line that is too long, in one chunk or several", async () => {
  await expect(read(["ok\n123456", "78901\n"], 10)).rejects.toThrow("Cannot read line 2");
  await expect(read(["ok\n12345678901\nok\n"], 10)).rejects.toThrow("Cannot read line 2");
  expect((await read(["1234567890\n", "1234567890"], 10)).lines).toHaveLength(2);
});
