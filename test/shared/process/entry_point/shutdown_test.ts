import { describe, expect, test } from "bun:test";
import { createShutdown, type ShutdownPhase } from "../../../../shared/process/entry_point.ts";
import { createLog } from "../../../../shared/process/log.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const quiet = createLog({ level: "silent", process: "test" });

function phase(name: string, run: () => Promise<void>, timeoutMs = 5000): ShutdownPhase {
  return { name, timeoutMs, run };
}

describe("createShutdown()", () => {
  test("runs one phase after the other", async () => {
    const steps: string[] = [];
    const step = (name: string) =>
      phase(name, async () => {
        steps.push(`${name} begins`);
        await new Promise(setImmediate);
        steps.push(`${name} ends`);
      });
    const codes: number[] = [];
    const phases = [step("a"), step("b")];
    createShutdown({ phases, log: quiet, exit: (code) => codes.push(code) })("SIGTERM");
    await waitFor(() => codes.length > 0);
    expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(codes).toEqual([0]);
  });

  test("continues after a phase that fails or times out, and logs both failures", async () => {
    let lastRan = false;
    const phases = [
      phase("throws", () => Promise.reject(new Error("no"))),
      phase("hangs", () => new Promise(() => {}), 10),
      phase("last", async () => {
        lastRan = true;
      }),
    ];
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLog({ level: "error", process: "test", destination });
    const codes: number[] = [];
    createShutdown({ phases, log, exit: (code) => codes.push(code) })("SIGTERM");
    await waitFor(() => codes.length > 0);
    expect(lastRan).toBe(true);
    expect(codes).toEqual([1]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { phase: "throws", err: { message: "no" } },
      { phase: "hangs", err: { message: "No result within 10 ms" } },
    ]);
  });

  test("exits with the given code, or with 0 by default", async () => {
    for (const [given, expected] of [
      [undefined, 0],
      [3, 3],
    ] as const) {
      const codes: number[] = [];
      const shutdown = createShutdown({ phases: [], log: quiet, exit: (code) => codes.push(code) });
      shutdown("SIGTERM", given);
      await waitFor(() => codes.length > 0);
      expect(codes).toEqual([expected]);
    }
  });

  test("passes the reason for the shutdown to every phase", async () => {
    const reasons: string[] = [];
    const note = {
      name: "note",
      timeoutMs: 5000,
      run: async (reason: string) => void reasons.push(reason),
    };
    const codes: number[] = [];
    createShutdown({ phases: [note, note], log: quiet, exit: (code) => codes.push(code) })("SIGINT");
    await waitFor(() => codes.length > 0);
    expect(reasons).toEqual(["SIGINT", "SIGINT"]);
  });

  test("exits with 1 if a phase fails", async () => {
    const codes: number[] = [];
    const phases = [phase("throws", () => Promise.reject(new Error("no")))];
    createShutdown({ phases, log: quiet, exit: (code) => codes.push(code) })("SIGTERM");
    await waitFor(() => codes.length > 0);
    expect(codes).toEqual([1]);
  });

  test("exits with 1 immediately when called again", () => {
    const codes: number[] = [];
    const phases = [phase("hangs", () => new Promise(() => {}))];
    const shutdown = createShutdown({ phases, log: quiet, exit: (code) => codes.push(code) });
    shutdown("SIGINT");
    expect(codes).toEqual([]);
    shutdown("SIGINT");
    expect(codes).toEqual([1]);
  });
});
