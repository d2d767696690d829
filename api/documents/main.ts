/** Entry point of the worker thread for large documents. It receives one task at a time (task_thread.ts). */
import { parentPort } from "node:worker_threads";
import type { ThreadAnswer } from "./task_thread.ts";
import { type DocumentTask, doTask } from "./tasks.ts";

function answer(task: DocumentTask): ThreadAnswer {
  try {
    return { ok: true, text: doTask(task) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on("message", (task: DocumentTask) => parentPort?.postMessage(answer(task)));
