/** The cost of process metrics in an idle process. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
/** Prints how often the main thread waited in two seconds. On a busy machine, it waits less often. */
const SCRIPT = `
import { readFileSync } from "node:fs";
import { createProcessRegistry } from "./shared/monitoring/process_metrics.ts";
createProcessRegistry();
setInterval(() => {}, 60_000);
const waits = () => Number(/^voluntary_ctxt_switches:\\s+(\\d+)/m.exec(readFileSync("/proc/thread-self/status", "utf8"))?.[1]);
await Bun.sleep(500);
const before = waits();
await Bun.sleep(2000);
console.log(waits() - before);
process.exit(0);
`;

test("createProcessRegistry() wakes an idle process fewer than thirty times a second", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { cwd: ROOT, stdout: "pipe", stderr: "inherit" });
  const waits = Number(await child.stdout.text());
  expect(await child.exited).toBe(0);
  expect(waits).toBeGreaterThan(0);
  expect(waits).toBeLessThan(60);
});
