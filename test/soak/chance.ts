/** A client's luck: choices that a seed repeats. */
import { randomNumbers } from "../helpers/random_numbers.ts";

/** Apart enough that no two clients share their numbers. */
const STRIDE = 7919;

export class Chance {
  readonly #next: () => number;

  /** `part` tells clients of one run apart. */
  constructor(seed: number, part: number) {
    this.#next = randomNumbers(seed * 1_000_003 + part * STRIDE);
  }

  /** True so often in one. */
  happens(probability: number): boolean {
    return this.#next() < probability;
  }

  between(low: number, high: number): number {
    return low + this.#next() * (high - low);
  }

  /** From 0 to `count`, without it. */
  integer(count: number): number {
    return Math.floor(this.#next() * count);
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.integer(values.length)];
    if (value === undefined) throw new Error("Cannot pick: there is nothing to choose from");
    return value;
  }

  /** The values in an order of chance. */
  shuffle<Value>(values: readonly Value[]): Value[] {
    return values
      .map((value) => ({ value, order: this.#next() }))
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }
}
