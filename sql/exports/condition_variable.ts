/** A condition variable for one thread: wakes the waiting code when something has changed. */

export class Condition {
  #changed: PromiseWithResolvers<void> | null = null;

  /** Wakes everything that is waiting now. */
  notify(): void {
    this.#changed?.resolve();
    this.#changed = null;
  }

  /** Resolves at the next `notify()`. Check the condition first, in the same tick. */
  wait(): Promise<void> {
    this.#changed ??= Promise.withResolvers<void>();
    return this.#changed.promise;
  }
}
