/** A worker thread that runs one task at a time, so that long tasks do not block the process. */
import { Worker } from "node:worker_threads";
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { FairQueue, type Refusal } from "../http/limits/fair_queue.ts";

/** Maximum waiting tasks of one caller, not counting the running task. */
export const MAX_TASKS_PER_CALLER = 2;

/** The response of the thread's entry point to a message. */
export type ThreadAnswer = { ok: true; text: string } | { ok: false; message: string };

interface ThreadOptions {
  /** The file that the thread runs. It responds to every message with a ThreadAnswer. */
  entry: URL;
  /** Time limit of a task. A task that takes longer is aborted by terminating the thread. */
  timeLimitMs: number;
}

/** A message for the thread, and its caller. */
interface ThreadTask {
  /** Concurrent tasks with equal keys run once. */
  key: string;
  message: unknown;
  /** A user id, or the network of an anonymous caller. */
  caller: string;
  /** The task is rejected if this many tasks of all callers are waiting. */
  maxWaiting: number;
}

const CLOSED = "the service is shutting down";
const TOO_LONG = "it takes too long on this busy server";

/** Returns SERVICE_UNAVAILABLE for a task that did not complete and can be retried. */
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

/** Runs tasks in a thread that starts on demand. An idle thread does not keep the process alive. */
export class TaskThread {
  readonly #options: ThreadOptions;
  /** Shares the thread by time, because a large document takes a hundred times as long as a small one. */
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
   * Runs a task in its caller's turn and returns the response. Throws RATE_LIMITED if the caller has two tasks waiting. Throws
   * SERVICE_UNAVAILABLE if `maxWaiting` tasks are waiting in all, if the task takes too long, or after `close`. Any other error
   * is a failure in the thread.
   */
  run({ key, message, caller, maxWaiting }: ThreadTask): Promise<string> {
    const turn = { caller, key, maxWaitingInAll: maxWaiting, refuse };
    return this.#queue.run(turn, () => this.#perform(message));
  }

  /** Terminates the thread immediately and rejects the waiting tasks. */
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
