/** Keeps the answers to questions that always have the same one, within bounds of memory. */

/** A JavaScript string takes one or two bytes a character. */
const BYTES_PER_CHARACTER = 2;

export class AnswerCache {
  readonly #maxBytes: number;
  /** The one that was asked for longest ago first. */
  readonly #kept = new Map<string, string>();
  readonly #pending = new Map<string, Promise<string>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** At most what is kept takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The answer that is kept or being made, else what `make` makes of it. A failure is for those who wait, and not kept. */
  answer(key: string, make: () => Promise<string>): Promise<string> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return Promise.resolve(kept);
    }
    const pending = this.#pending.get(key) ?? this.#make(key, make);
    this.#pending.set(key, pending);
    return pending;
  }

  async #make(key: string, make: () => Promise<string>): Promise<string> {
    try {
      const text = await make();
      this.#keep(key, text);
      return text;
    } finally {
      this.#pending.delete(key);
    }
  }

  #keep(key: string, text: string): void {
    this.#kept.set(key, text);
    this.#bytes += sizeOf(key, text);
    for (const [oldest, dropped] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
    }
  }
}

function sizeOf(key: string, text: string): number {
  return (key.length + text.length) * BYTES_PER_CHARACTER;
}
