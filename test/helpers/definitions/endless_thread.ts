/**
 * The script of a worker thread. It throws on "throw", exits on "end", loops forever on "loop" and responds with an
 * error on "fail". It returns any other message unchanged.
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
