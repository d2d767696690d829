/** A condition variable of one thread: who waits for a change is told of the next one. */

export class Condition {
  #changed: PromiseWithResolvers<void> | null = null;

  /** Wakes all that wait now. */
  notify(): void {
    this.#changed?.resolve();
    this.#changed = null;
  }

  /** Resolves with the next `notify()`; look at what has changed before, in the same tick. */
  wait(): Promise<void> {
    this.#changed ??= Promise.withResolvers<void>();
    return this.#changed.promise;
  }
}
