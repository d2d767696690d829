/** A thread that does one task after the other, so that what takes long keeps nobody else of the process waiting. */
import { Worker } from "node:worker_threads";

/** What the entry point of a thread sends back for each message. */
export type ThreadAnswer = { ok: true; text: string } | { ok: false; message: string };

export interface ThreadOptions {
  /** The file that the thread runs: it answers every message with a ThreadAnswer. */
  entry: URL;
  /** A task that takes longer is given up, and the thread with it. */
  timeLimitMs: number;
}

/** The task was not done, and it may be tried again: too many wait, it took too long, or the process leaves. */
export class ThreadRefusal extends Error {
  readonly reason: "full" | "too_long" | "closed";

  constructor(reason: ThreadRefusal["reason"]) {
    super(`Cannot do the task: the thread says ${reason}`);
    this.name = "ThreadRefusal";
    this.reason = reason;
  }
}

interface Waiting {
  message: unknown;
  resolve: (text: string) => void;
  reject: (error: Error) => void;
}

/** Starts with its first task, and again after a task that had to be given up. It keeps no process alive. */
export class TaskThread {
  readonly #options: ThreadOptions;
  readonly #waiting: Waiting[] = [];
  #worker: Worker | null = null;
  #running: (Waiting & { timer: Timer }) | null = null;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * The answer to a message, in its turn. Throws a ThreadRefusal, at once when `maxWaiting` others wait already; an
   * Error is what the thread itself threw.
   */
  run(message: unknown, { maxWaiting }: { maxWaiting: number }): Promise<string> {
    if (this.#isClosed) return Promise.reject(new ThreadRefusal("closed"));
    if (this.#waiting.length >= maxWaiting) return Promise.reject(new ThreadRefusal("full"));
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.push({ message, resolve, reject });
    this.#next();
    return promise;
  }

  /** Ends the thread, whatever it is at; those who wait are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new ThreadRefusal("closed"));
    await this.#end(new ThreadRefusal("closed"));
  }

  #next(): void {
    if (this.#running) return;
    const next = this.#waiting.shift();
    if (!next) return;
    // Until its answer is there the timer keeps the process alive.
    const timer = setTimeout(() => this.#giveUp(), this.#options.timeLimitMs);
    this.#running = { ...next, timer };
    this.#worker ??= this.#start();
    this.#worker.postMessage(next.message);
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
    const done = this.#takeRunning();
    if (answer.ok) done?.resolve(answer.text);
    else done?.reject(new Error(`Cannot do the task: ${answer.message}`));
    this.#next();
  }

  #giveUp(): void {
    void this.#end(new ThreadRefusal("too_long"));
    this.#next();
  }

  async #end(reason: ThreadRefusal): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#takeRunning()?.reject(reason);
    await worker?.terminate();
  }

  #takeRunning(): Waiting | null {
    const running = this.#running;
    this.#running = null;
    clearTimeout(running?.timer);
    return running;
  }
}
