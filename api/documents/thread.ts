/** A worker thread that runs one task at a time, so that long tasks do not block the process. */
import { Worker } from "node:worker_threads";
import { hasWaiter, MAX_TASKS_PER_CALLER, type QueuedTask, TaskQueue, type Waiter } from "./task_queue.ts";

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

interface Waiting extends Waiter {
  resolve: (text: string) => void;
  reject: (error: Error) => void;
}

interface Running {
  task: QueuedTask<Waiting>;
  timer: Timer;
  startedAt: number;
}

/** Starts the thread with its first task, and again after an aborted one. An idle thread does not keep the process alive. */
export class TaskThread {
  readonly #options: ThreadOptions;
  readonly #queue = new TaskQueue<Waiting>();
  #worker: Worker | null = null;
  #running: Running | null = null;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * Returns the response to a message, in its caller's turn (`TaskQueue`). Throws a ThreadRefusal, at once if the caller
   * has two tasks waiting or `maxWaiting` wait in all. Any other Error is one that the thread threw.
   */
  run({ key, message, caller, maxWaiting }: ThreadTask): Promise<string> {
    if (this.#isClosed) return Promise.reject(new ThreadError("closed"));
    const running = this.#running?.task;
    if (running?.key === key) return join(running, caller);
    const waiting = this.#queue.find(key);
    if (waiting && hasWaiter(waiting, caller)) return join(waiting, caller);
    if (this.#queue.count(caller) >= MAX_TASKS_PER_CALLER) return Promise.reject(new ThreadError("own"));
    if (waiting) return join(waiting, caller);
    if (this.#queue.size >= maxWaiting) return Promise.reject(new ThreadError("full"));
    const task = { key, message, waiters: [], since: performance.now() };
    const answer = join(task, caller);
    this.#queue.add(task);
    this.#next();
    return answer;
  }

  /** Ends the thread immediately; waiting tasks are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#queue.clear()) rejectTask(task, new ThreadError("closed"));
    await this.#end(new ThreadError("closed"));
  }

  #next(): void {
    if (this.#running) return;
    const startedAt = performance.now();
    const task = this.#queue.take(startedAt);
    if (!task) return;
    // The timer keeps the process alive until the response arrives.
    const timer = setTimeout(() => this.#giveUp(), this.#options.timeLimitMs);
    this.#running = { task, timer, startedAt };
    this.#worker ??= this.#start();
    this.#worker.postMessage(task.message);
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
    const task = this.#takeRunning();
    if (task && answer.ok) for (const { resolve } of task.waiters) resolve(answer.text);
    if (task && !answer.ok) rejectTask(task, new Error(`Cannot do the task: ${answer.message}`));
    this.#next();
  }

  #giveUp(): void {
    void this.#end(new ThreadError("too_long"));
    this.#next();
  }

  async #end(reason: ThreadError): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    const task = this.#takeRunning();
    if (task) rejectTask(task, reason);
    await worker?.terminate();
  }

  /** Clears the running task and charges its time. */
  #takeRunning(): QueuedTask<Waiting> | null {
    const running = this.#running;
    this.#running = null;
    if (!running) return null;
    clearTimeout(running.timer);
    const now = performance.now();
    this.#queue.charge(running.task, { ms: now - running.startedAt, now });
    return running.task;
  }
}

function join({ waiters }: QueuedTask<Waiting>, caller: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  waiters.push({ caller, resolve, reject });
  return promise;
}

function rejectTask({ waiters }: QueuedTask<Waiting>, reason: Error): void {
  for (const { reject } of waiters) reject(reason);
}
