/** A fair queue: callers share the thread by the time they use, not by the number of their requests. */
import { LRUCache } from "lru-cache";

/** Maximum waiting tasks of one caller, without the running one. */
export const MAX_TASKS_PER_CALLER = 2;

/** Half-life of the time a caller has used. */
const HALF_LIFE_MS = 10_000;
/** Milliseconds of waiting that offset one of use, so that new callers cannot starve the others. */
const WAIT_PER_USE = 10;
/** Maximum callers whose use is remembered; others count as new. */
const MAX_CALLERS = 10_000;

/** A caller that waits for a task. */
export interface Waiter {
  /** A user or a network. */
  caller: string;
}

export interface QueuedTask<A extends Waiter> {
  /** Tasks with equal keys have equal results. */
  key: string;
  message: unknown;
  /** The callers that wait for it, one or more. */
  waiters: A[];
  /** When it was queued, in milliseconds. */
  since: number;
}

interface Usage {
  ms: number;
  /** The time at which this value was current. */
  at: number;
}

/**
 * Picks the task whose caller has used the least time; among equals, the oldest. Use halves every ten seconds, and waiting
 * offsets it. A task that several callers wait for runs once, at the first turn of any of them.
 */
export class TaskQueue<A extends Waiter> {
  readonly #waiting = new Map<string, QueuedTask<A>>();
  readonly #usage = new LRUCache<string, Usage>({ max: MAX_CALLERS });

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns the waiting task with this key. */
  find(key: string): QueuedTask<A> | null {
    return this.#waiting.get(key) ?? null;
  }

  /** Returns the number of waiting tasks of a caller. */
  count(caller: string): number {
    return [...this.#waiting.values()].filter((task) => hasWaiter(task, caller)).length;
  }

  add(task: QueuedTask<A>): void {
    this.#waiting.set(task.key, task);
  }

  /** Removes and returns the next task, or null. `now` is in milliseconds. */
  take(now: number): QueuedTask<A> | null {
    let next: QueuedTask<A> | null = null;
    let minOwed = Number.POSITIVE_INFINITY;
    for (const task of this.#waiting.values()) {
      const used = Math.min(...task.waiters.map(({ caller }) => this.#usedBy(caller, now)));
      const owed = used - (now - task.since) / WAIT_PER_USE;
      if (owed < minOwed) [next, minOwed] = [task, owed];
    }
    if (next) this.#waiting.delete(next.key);
    return next;
  }

  /** Removes and returns all waiting tasks. */
  clear(): QueuedTask<A>[] {
    const tasks = [...this.#waiting.values()];
    this.#waiting.clear();
    return tasks;
  }

  /** Charges the time of a task to the callers that waited for it, in equal shares. */
  charge(task: QueuedTask<A>, { ms, now }: { ms: number; now: number }): void {
    for (const { caller } of task.waiters) {
      const used = this.#usedBy(caller, now) + ms / task.waiters.length;
      this.#usage.set(caller, { ms: used, at: now });
    }
  }

  #usedBy(caller: string, now: number): number {
    const usage = this.#usage.get(caller);
    return usage ? usage.ms * 2 ** ((usage.at - now) / HALF_LIFE_MS) : 0;
  }
}

export function hasWaiter({ waiters }: QueuedTask<Waiter>, caller: string): boolean {
  return waiters.some((waiter) => waiter.caller === caller);
}
