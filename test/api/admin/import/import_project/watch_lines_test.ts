import { expect, test } from "bun:test";
import { watchLines } from "../../../../../api/admin/import/import_project.ts";

const TEXT = "first\n\nthird, with é and 🚀\nlast, without an end";

test.each([1, 2, 3, 7, 1000])(
  "watchLines() sees every line, and changes nothing, in chunks of %p bytes",
  async (size) => {
    const bytes = Buffer.from(TEXT);
    async function* chunks() {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    }
    const lines: string[] = [];
    const passed = await Array.fromAsync(watchLines(chunks(), (line) => lines.push(line)));
    expect(Buffer.concat(passed).toString()).toBe(TEXT);
    expect(lines).toEqual(TEXT.split("\n"));
  },
);

test("watchLines() sees no line after the last line feed, and none in nothing", async () => {
  for (const [text, expected] of [
    ["a\n", ["a"]],
    ["", []],
  ] as const) {
    async function* chunks() {
      yield Buffer.from(text);
    }
    const lines: string[] = [];
    await Array.fromAsync(watchLines(chunks(), (line) => lines.push(line)));
    expect(lines).toEqual([...expected]);
  }
});
