/** Compresses the pages of a Parquet file on the threads of the runtime, a bounded number at a time. */

/** Higher levels take longer than PostgreSQL needs for the rows. */
const LEVEL = 1;
const RUNNING_MAX = 8;

export class PageCompressor {
  /** Buffers to use again: the engine would let spent ones pile up before it collects them. */
  readonly #free: Buffer[] = [];
  readonly #bufferBytes: number;
  readonly #running = new Set<Promise<unknown>>();

  /** `bufferBytes` is the size of the buffers that are used again. */
  constructor(bufferBytes: number) {
    this.#bufferBytes = bufferBytes;
  }

  /** Returns a buffer of at least `bytes`, with anything in it. */
  allocate(bytes: number): Buffer {
    if (bytes !== this.#bufferBytes) return Buffer.allocUnsafeSlow(bytes);
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(bytes);
  }

  /** Takes back a buffer that is no longer used. */
  release(buffer: Buffer): void {
    if (buffer.length === this.#bufferBytes) this.#free.push(buffer);
  }

  /** Compresses a part of a buffer with zstd, and then takes the buffer back. */
  async compress(buffer: Buffer, start: number, end: number): Promise<Uint8Array> {
    const compressing = Bun.zstdCompress(buffer.subarray(start, end), { level: LEVEL });
    this.#running.add(compressing);
    try {
      return await compressing;
    } finally {
      this.#running.delete(compressing);
      this.release(buffer);
    }
  }

  /** Resolves when fewer than the allowed number of pages are being compressed. */
  async waitForRoom(): Promise<void> {
    while (this.#running.size >= RUNNING_MAX) await Promise.race(this.#running);
  }
}
