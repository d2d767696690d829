/** Generates reproducible random numbers, and makes random choices with them. */

/** Returns a generator of numbers in [0, 1) (mulberry32). The same seed gives the same sequence. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes random choices. */
export class Chance {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  of(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Returns a random integer from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, at: this.#random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}
