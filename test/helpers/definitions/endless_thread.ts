/**
 * The script of a worker thread: it answers "echo", throws at "throw", exits at "end" and loops forever at "loop".
 */
import { parentPort } from "node:worker_threads";
import type { ThreadAnswer } from "../../../api/documents/task_thread.ts";

function answer(message: string): ThreadAnswer {
  if (message === "end") process.exit(3);
  if (message === "throw") throw new Error("thrown in the thread");
  while (message === "loop") Math.random();
  return message === "fail" ? { ok: false, message: "told to fail" } : { ok: true, text: message };
}

parentPort?.on("message", (message: string) => parentPort?.postMessage(answer(message)));
