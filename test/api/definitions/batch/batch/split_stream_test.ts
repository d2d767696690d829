import { expect, test } from "bun:test";
import { splitStream } from "../../../../../api/definitions/batch/batch.ts";

test.each([
  ["a: 1", [["a: 1", 1]]],
  ["a: 1\n", [["a: 1\n", 1]]],
  [
    "---\na: 1\n---\nb: 2\n",
    [
      ["a: 1\n", 2],
      ["b: 2\n", 4],
    ],
  ],
  [
    "\uFEFF--- # first\r\na: 1\r\n---\r\nb: 2\r\n",
    [
      ["a: 1\r\n", 2],
      ["b: 2\r\n", 4],
    ],
  ],
  [
    "\uFEFF---\na: 1\n\uFEFF---\r\nb: 2\n\uFEFF# license\n--- {c: 3}\n\uFEFF--- {d: 4}\n",
    [
      ["a: 1\n", 2],
      ["b: 2\n# license\n", 4],
      ["--- {c: 3}\n", 6],
      ["--- {d: 4}\n", 7],
    ],
  ],
  ["a: |\n \uFEFF---\n\uFEFF---b: 1\n", [["a: |\n \uFEFF---\n\uFEFF---b: 1\n", 1]]],
  [
    "a: 1\n...\nb: 2\n...\n",
    [
      ["a: 1\n", 1],
      ["b: 2\n", 3],
    ],
  ],
  ["# license\n---\na: 1\n", [["# license\n---\na: 1\n", 1]]],
  ["%YAML 1.2\n---\na: 1\n", [["%YAML 1.2\n---\na: 1\n", 1]]],
  [
    "--- {a: 1}\n--- {b: 2}\n",
    [
      ["--- {a: 1}\n", 1],
      ["--- {b: 2}\n", 2],
    ],
  ],
  [
    "a: |\n  ---\n  text\n--- \nb: ----\n",
    [
      ["a: |\n  ---\n  text\n", 1],
      ["b: ----\n", 5],
    ],
  ],
  ["---\n\n---\n# nothing\n...\n", []],
  ["", []],
] as const)("splitStream() splits %j into documents", async (text, expected) => {
  const documents = (await splitStream(text)).map(({ yaml, firstLine }) => [yaml, firstLine]);
  expect(documents).toEqual(expected.map(([yaml, line]) => [yaml, line]));
});

test("splitting a stream of 1 MiB yields to other work", async () => {
  for (const line of ["\n", "---\n", "#\n", " \n"]) {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const documents = await splitStream(`${line.repeat(1_048_576 / line.length)}---\na: 1\n`);
    clearInterval(timer);
    expect([documents.map(({ yaml }) => yaml.endsWith("a: 1\n")), turns > 5]).toEqual([[true], true]);
  }
});
