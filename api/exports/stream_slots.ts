/** Bounds how many exports stream at once: each holds a connection and a database snapshot. */

export class StreamSlots {
  readonly max: number;
  #active = 0;

  constructor(max: number) {
    this.max = max;
  }

  get active(): number {
    return this.#active;
  }

  /** Takes a slot and returns what gives it back (once, however often it is called); `null` when none is free. */
  take(): (() => void) | null {
    if (this.#active >= this.max) return null;
    this.#active += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#active -= 1;
    };
  }
}
