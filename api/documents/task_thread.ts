/** A worker thread that runs one task at a time, so that long tasks do not block the process. */
import { Worker } from "node:worker_threads";
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { FairQueue, type Refusal } from "../http/limits/fair_queue.ts";

/** Maximum waiting tasks of one caller, without the running one. */
export const MAX_TASKS_PER_CALLER = 2;

/** The response of the thread's entry point to a message. */
export type ThreadAnswer = { ok: true; text: string } | { ok: false; message: string };

interface ThreadOptions {
  /** The file that the thread runs. It responds to every message with a ThreadAnswer. */
  entry: URL;
  /** A task that takes longer is aborted by ending the thread. */
  timeLimitMs: number;
}

/** A message for the thread, and its caller. */
interface ThreadTask {
  /** Concurrent tasks with equal keys run once. */
  key: string;
  message: unknown;
  /** A user or a network. */
  caller: string;
  /** The task is refused if so many wait, over all callers. */
  maxWaiting: number;
}

const CLOSED = "the service is shutting down";
const TOO_LONG = "it takes too long on this busy server";

/** The error for a task that did not run and can be retried. */
function unavailable(cause: string): ApiError {
  const retryAfter = RETRY_AFTER.queue;
  const message = TEXTS.SERVICE_UNAVAILABLE.document({ cause, seconds: retryAfter });
  return new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter });
}

function refuse(reason: Refusal): ApiError {
  if (reason !== "caller") return unavailable("too many large documents are waiting");
  const retryAfter = RETRY_AFTER.queue;
  const message = TEXTS.RATE_LIMITED.documents({ waiting: MAX_TASKS_PER_CALLER, seconds: retryAfter });
  return new ApiError("RATE_LIMITED", { message, retryAfter });
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
   * Returns the response to a message, in its caller's turn. Throws RATE_LIMITED if the caller has two tasks waiting, and
   * SERVICE_UNAVAILABLE if `maxWaiting` wait in all, if the task takes too long, or after `close`. Any other Error is one that
   * the thread threw.
   */
  run({ key, message, caller, maxWaiting }: ThreadTask): Promise<string> {
    const turn = { caller, key, maxWaitingInAll: maxWaiting, refuse };
    return this.#queue.run(turn, () => this.#perform(message));
  }

  /** Ends the thread immediately; waiting tasks are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(unavailable(CLOSED));
  }

  async #perform(message: unknown): Promise<string> {
    if (this.#isClosed) throw unavailable(CLOSED);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // The timer keeps the process alive until the response arrives.
    const timer = setTimeout(() => void this.#end(unavailable(TOO_LONG)), this.#options.timeLimitMs);
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

  async #end(reason: ApiError): Promise<void> {
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
