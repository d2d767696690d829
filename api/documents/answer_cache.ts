/** Keeps the answers to questions that always have the same one, within bounds of memory. */
import { LRUCache } from "lru-cache";

/** A JavaScript string takes one or two bytes a character. */
const BYTES_PER_CHARACTER = 2;

export class AnswerCache {
  readonly #kept: LRUCache<string, string>;
  readonly #pending = new Map<string, Promise<string>>();

  constructor(maxBytes: number) {
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (text, key) => (key.length + text.length) * BYTES_PER_CHARACTER,
    });
  }

  /** At most what is kept takes. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** The answer that is kept or being made, else what `make` makes of it. A failure is for those who wait, and not kept. */
  answer(key: string, make: () => Promise<string>): Promise<string> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const pending = this.#pending.get(key) ?? this.#make(key, make);
    this.#pending.set(key, pending);
    return pending;
  }

  async #make(key: string, make: () => Promise<string>): Promise<string> {
    try {
      const text = await make();
      this.#kept.set(key, text);
      return text;
    } finally {
      this.#pending.delete(key);
    }
  }
}
