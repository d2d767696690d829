/** Schedules slow tasks fairly. A few tasks run at once, the others wait, and callers take turns. */
import { LRUCache } from "lru-cache";

export interface FairQueueOptions {
  /** Maximum running tasks. */
  max: number;
  /** Maximum running tasks of one caller. */
  maxPerCaller: number;
  /** Maximum waiting tasks of one caller. */
  maxWaiting: number;
  /** Orders callers by their running time instead of the number of their tasks. */
  isByTime?: boolean;
  /** Returns milliseconds. Tests replace it. */
  now?: () => number;
}

/** Why a task is rejected: the caller has too many waiting tasks, the queue is full, or the request is over. */
export type Refusal = "caller" | "all" | "over";

export interface Turn {
  /** The key of the caller, such as a user id or a network. */
  caller: string;
  /** Returns the error for a rejected task. */
  refuse(reason: Refusal): Error;
  /** Runs before all tasks without this flag. */
  isFirst?: boolean;
  /** Rejects the task if this many tasks of all callers are waiting; no limit if omitted. */
  maxWaitingInAll?: number;
  /** Returns true once the result is not needed; false if omitted. Called at the task's turn and when a limit is reached. */
  isOver?(): boolean;
  /** Tasks with equal keys have equal results. They run once for all their callers. */
  key?: string;
}

interface Task {
  turn: Turn;
  callers: string[];
  waitsSince: number;
  result: Promise<unknown>;
  begin(): void;
  reject(error: Error): void;
}

/** Half-life of a caller's recorded running time. */
const HALF_LIFE_MS = 10_000;
/** Milliseconds of waiting that offset one millisecond of running time, so that new callers cannot starve the others. */
const WAIT_PER_USE = 10;
/** Maximum callers with a recorded running time. Other callers count as new. */
const MAX_CALLERS = 10_000;

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #now: () => number;
  readonly #running = new Set<Task>();
  /** Waiting tasks in the order of their turns. */
  #waiting: Task[] = [];
  readonly #used = new LRUCache<string, { ms: number; at: number }>({ max: MAX_CALLERS });

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Runs `work` at the caller's turn, which can be at once. Throws the error of `refuse` if the task is rejected. */
  run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
    const same = this.#findSame(turn);
    let refusal = this.#findRefusal(turn, same);
    if (refusal !== null) {
      this.#rejectOver();
      refusal = this.#findRefusal(turn, same);
    }
    if (refusal !== null) return Promise.reject(turn.refuse(refusal));
    if (same !== null) {
      same.callers.push(turn.caller);
      return same.result as Promise<Result>;
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const task: Task = {
      turn,
      callers: [turn.caller],
      waitsSince: this.#now(),
      result: promise,
      begin: () => resolve(this.#perform(task, work)),
      reject,
    };
    this.#waiting.push(task);
    this.#beginNext();
    return promise;
  }

  #findSame({ key }: Turn): Task | null {
    if (key === undefined) return null;
    return [...this.#running, ...this.#waiting].find(({ turn }) => turn.key === key) ?? null;
  }

  #findRefusal({ caller, maxWaitingInAll }: Turn, same: Task | null): Refusal | null {
    // Joining a task that runs, or that the caller already waits for, adds no waiting task.
    if (same && (this.#running.has(same) || same.callers.includes(caller))) return null;
    const own = this.#waiting.filter(({ callers }) => callers.includes(caller));
    if (own.length >= this.#options.maxWaiting) return "caller";
    const isFull = maxWaitingInAll !== undefined && this.#waiting.length >= maxWaitingInAll;
    return same === null && isFull ? "all" : null;
  }

  async #perform<Result>(task: Task, work: () => Promise<Result>): Promise<Result> {
    const startedAt = this.#now();
    this.#running.add(task);
    try {
      return await work();
    } finally {
      this.#running.delete(task);
      if (this.#options.isByTime) this.#charge(task, this.#now() - startedAt);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    for (let next = this.#takeNext(); next; next = this.#takeNext()) next.begin();
  }

  /** Removes and returns the next task that may begin. Rejects tasks that are over. The caller's other tasks move to the end. */
  #takeNext(): Task | null {
    if (this.#running.size >= this.#options.max) return null;
    let next = this.#findNext();
    while (next && isOver(next)) {
      this.#rejectOver();
      next = this.#findNext();
    }
    if (!next) return null;
    const isOwn = ({ turn }: Task): boolean => turn.caller === next.turn.caller;
    const rest = this.#waiting.filter((task) => task !== next);
    // The sort is stable, so both groups keep their order.
    this.#waiting = rest.toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
    return next;
  }

  #findNext(): Task | undefined {
    const mayBegin = (task: Task): boolean => this.#mayBegin(task);
    const first = this.#waiting.find((task) => task.turn.isFirst && this.#mayBegin(task));
    if (first || !this.#options.isByTime) return first ?? this.#waiting.find(mayBegin);
    return this.#waiting.filter(mayBegin).sort((a, b) => this.#owedBy(a) - this.#owedBy(b))[0];
  }

  #mayBegin({ turn: { caller } }: Task): boolean {
    let own = 0;
    for (const { callers } of this.#running) if (callers.includes(caller)) own += 1;
    return own < this.#options.maxPerCaller;
  }

  #rejectOver(): void {
    const over = this.#waiting.filter(isOver);
    if (over.length === 0) return;
    this.#waiting = this.#waiting.filter((task) => !over.includes(task));
    for (const { turn, reject } of over) reject(turn.refuse("over"));
  }

  /** Charges a task's running time to its callers in equal shares. */
  #charge({ callers }: Task, ms: number): void {
    for (const caller of callers) {
      this.#used.set(caller, { ms: this.#usedBy(caller) + ms / callers.length, at: this.#now() });
    }
  }

  #usedBy(caller: string): number {
    const used = this.#used.get(caller);
    return used ? used.ms * 2 ** ((used.at - this.#now()) / HALF_LIFE_MS) : 0;
  }

  /** Returns the lowest running time of a task's callers, minus a tenth of the task's waiting time. */
  #owedBy({ callers, waitsSince }: Task): number {
    const used = Math.min(...callers.map((caller) => this.#usedBy(caller)));
    return used - (this.#now() - waitsSince) / WAIT_PER_USE;
  }
}

function isOver({ turn }: Task): boolean {
  return turn.isOver?.() ?? false;
}
