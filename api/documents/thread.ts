/** A worker thread that runs one task at a time, so that long tasks do not block the process. */
import { Worker } from "node:worker_threads";
import { FairQueue, type Refusal } from "../http/limits/fair_queue.ts";

/** Maximum waiting tasks of one caller, without the running one. */
export const MAX_TASKS_PER_CALLER = 2;

/** The response of the thread's entry point to a message. */
export type ThreadAnswer = { ok: true; text: string } | { ok: false; message: string };

export interface ThreadOptions {
  /** The file that the thread runs. It responds to every message with a ThreadAnswer. */
  entry: URL;
  /** A task that takes longer is aborted by ending the thread. */
  timeLimitMs: number;
}

/**
 * The task did not run and can be retried: the caller has too many tasks waiting, too many wait in all, it took too long,
 * or the process is shutting down.
 */
export class ThreadError extends Error {
  readonly reason: "own" | "full" | "too_long" | "closed";

  constructor(reason: ThreadError["reason"]) {
    super(`Cannot do the task: the thread says ${reason}`);
    this.name = "ThreadRefusal";
    this.reason = reason;
  }
}

/** A message for the thread, and its caller. */
export interface ThreadTask {
  /** Concurrent tasks with equal keys run once. */
  key: string;
  message: unknown;
  /** A user or a network. */
  caller: string;
  /** The task is refused if so many wait, over all callers. */
  maxWaiting: number;
}

interface Running {
  resolve: (text: string) => void;
  reject: (error: Error) => void;
  timer: Timer;
}

/** Starts the thread with its first task, and again after an aborted one. An idle thread does not keep the process alive. */
export class TaskThread {
  readonly #options: ThreadOptions;
  /** By time: a large document takes a hundred times as long as a small one. */
  readonly #queue = new FairQueue({
    max: 1,
    maxPerCaller: 1,
    maxWaiting: MAX_TASKS_PER_CALLER,
    isByTime: true,
  });
  #worker: Worker | null = null;
  #running: Running | null = null;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * Returns the response to a message, in its caller's turn. Throws a ThreadError, at once if the caller has two tasks
   * waiting or `maxWaiting` wait in all. Any other Error is one that the thread threw.
   */
  run({ key, message, caller, maxWaiting }: ThreadTask): Promise<string> {
    const refuse = (reason: Refusal) => new ThreadError(reason === "caller" ? "own" : "full");
    const turn = { caller, key, maxWaitingInAll: maxWaiting, refuse };
    return this.#queue.run(turn, () => this.#perform(message));
  }

  /** Ends the thread immediately; waiting tasks are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(new ThreadError("closed"));
  }

  async #perform(message: unknown): Promise<string> {
    if (this.#isClosed) throw new ThreadError("closed");
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // The timer keeps the process alive until the response arrives.
    const timer = setTimeout(() => void this.#end(new ThreadError("too_long")), this.#options.timeLimitMs);
    this.#running = { resolve, reject, timer };
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
    return promise;
  }

  #start(): Worker {
    const worker = new Worker(this.#options.entry);
    worker.unref();
    worker.on("message", (answer: ThreadAnswer) => {
      if (worker === this.#worker) this.#settle(answer);
    });
    const lost = (error: Error) => {
      if (worker !== this.#worker) return;
      this.#worker = null;
      this.#settle({ ok: false, message: `the thread ended: ${error.message}` });
    };
    worker.on("error", lost);
    worker.on("exit", (code) => lost(new Error(`exit code ${code}`)));
    return worker;
  }

  #settle(answer: ThreadAnswer): void {
    const running = this.#takeRunning();
    if (answer.ok) running?.resolve(answer.text);
    else running?.reject(new Error(`Cannot do the task: ${answer.message}`));
  }

  async #end(reason: ThreadError): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#takeRunning()?.reject(reason);
    await worker?.terminate();
  }

  #takeRunning(): Running | null {
    const running = this.#running;
    this.#running = null;
    clearTimeout(running?.timer);
    return running;
  }
}
