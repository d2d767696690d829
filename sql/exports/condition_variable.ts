/** A condition variable for one thread: wakes the waiting code when something has changed. */

export class ConditionVariable {
  #progress: PromiseWithResolvers<void> | null = null;

  /** Wakes everything that is waiting now. */
  notify(): void {
    this.#progress?.resolve();
    this.#progress = null;
  }

  /** Resolves at the next `notify()`. Check the condition first, in the same tick. */
  wait(): Promise<void> {
    this.#progress ??= Promise.withResolvers<void>();
    return this.#progress.promise;
  }
}
