import { expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchLog } from "../../../deploy/local/log_file.ts";

test("watchLog() passes on whole lines only, from a given position", () => {
  const directory = mkdtempSync(join(tmpdir(), "ulr-log-"));
  const path = join(directory, "api.log");
  const lines: string[] = [];
  try {
    writeFileSync(path, "an earlier run\n");
    const watch = watchLog({ path, startBytes: "an earlier run\n".length }, (line) => lines.push(line));
    appendFileSync(path, `first ü\n${"x".repeat(200_000)}\ncut`);
    watch[Symbol.dispose]();
    expect(lines).toEqual(["first ü", "x".repeat(200_000)]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
