import { expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toNotice, watchLog } from "../../../deploy/local/log_file.ts";

test("toNotice() shows warnings and worse, shortly", () => {
  const line = { level: "error", process: "api", requestId: "r-1", message: "Cannot reach the database" };
  expect(toNotice("api", JSON.stringify(line))).toBe("api error: Cannot reach the database (request r-1)");
  expect(toNotice("api", JSON.stringify({ level: "warn", message: "slow" }))).toBe("api warn: slow");
  expect(toNotice("api", JSON.stringify({ ...line, level: "info" }))).toBe(null);
  expect(toNotice("api", '{"level":"error", cut')).toBe(null);
  expect(toNotice("api", "no JSON")).toBe(null);
});

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
