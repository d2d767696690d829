/** Stopping a real process, with a signal or an uncaught error. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ENTRY_POINT = join(import.meta.dir, "../../../shared/process/entry_point.ts");

/** Runs a process until a signal or an uncaught error stops it. Returns the steps that it printed and its exit code. */
async function runUntilStopped(end: "SIGTERM" | "error"): Promise<{ steps: string[]; exitCode: number }> {
  const script = `
    import { openProcessLog, stopOnSignals } from ${JSON.stringify(ENTRY_POINT)};
    const say = async (step) => void console.log(step);
    stopOnSignals(process, {
      log: openProcessLog(process, { logLevel: "silent" }, "test"),
      phases: [{ name: "work", timeoutMs: 5000, run: (reason) => say("finish after " + reason) }],
      tracing: { shutdown: () => say("send traces") },
      close: () => say("close"),
    });
    setInterval(() => {}, 1000);
    console.log("ready");
    if (${end === "error"}) setTimeout(() => { throw new Error("a bug"); }, 0);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (text === "" && end === "SIGTERM") child.kill(end);
    text += chunk;
  }
  return { steps: text.trim().split("\n"), exitCode: await child.exited };
}

test.each([
  ["SIGTERM", "SIGTERM", 0],
  ["an error that nothing catches", "uncaughtException", 1],
] as const)("%s runs the phases, sends traces, then calls close()", async (_, reason, exitCode) => {
  expect(await runUntilStopped(reason === "SIGTERM" ? "SIGTERM" : "error")).toEqual({
    steps: ["ready", `finish after ${reason}`, "send traces", "close"],
    exitCode,
  });
});
