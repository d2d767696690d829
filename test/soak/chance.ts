/** A client's random choices, repeatable by seed. */
import { randomNumbers } from "../helpers/random_numbers.ts";

/** The distance between the seeds of two clients, so that no two clients draw the same numbers. */
const STRIDE = 7919;

export class Chance {
  readonly #next: () => number;

  /** `part` distinguishes the clients of a run. */
  constructor(seed: number, part: number) {
    this.#next = randomNumbers(seed * 1_000_003 + part * STRIDE);
  }

  /** Returns true with the given probability. */
  happens(probability: number): boolean {
    return this.#next() < probability;
  }

  between(low: number, high: number): number {
    return low + this.#next() * (high - low);
  }

  /** Returns a random integer from 0 to `count` - 1. */
  integer(count: number): number {
    return Math.floor(this.#next() * count);
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.integer(values.length)];
    if (value === undefined) throw new Error("Cannot pick: there is nothing to choose from");
    return value;
  }

  /** Returns the values in random order. */
  shuffle<Value>(values: readonly Value[]): Value[] {
    return values
      .map((value) => ({ value, order: this.#next() }))
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }
}
