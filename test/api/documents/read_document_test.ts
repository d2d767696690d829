import { expect, test } from "bun:test";
import { readDocument } from "../../../api/documents/read_document.ts";

test("a new document may have at most 5,000 references, however short its text is", () => {
  const read = (count: number, isStored = false) => {
    const names = Array.from({ length: count / 2 }, (_, n) => `a${n}`).join(", ");
    const yaml = `pipeline:\n  interface: {name: a, version: 1.0.0}\n  zz: &names [${names}]\n  stages: [{agents: *names}, {agents: *names}]\n`;
    return readDocument({ type: "pipeline", name: null, yaml, isStored });
  };
  expect(read(5000)).toMatchObject({ ok: true });
  expect(read(5002)).toEqual({
    ok: false,
    problems: [
      {
        path: "pipeline.stages[1].agents[2499]",
        message: "A document may have at most 5,000 references to definitions.",
        line: 4,
        column: expect.any(Number),
      },
    ],
  });
  expect(read(5002, true)).toMatchObject({ ok: true });
});
