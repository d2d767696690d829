/** Compresses the pages of a Parquet file on the threads of the runtime, a bounded number at a time. */
import { ConditionVariable } from "../condition_variable.ts";

/** Higher levels take longer than PostgreSQL needs for the rows. */
const LEVEL = 1;
const RUNNING_MAX = 8;

export class PageCompressor {
  /** Buffers to use again: the engine would let spent ones pile up before it collects them. */
  readonly #free: Buffer[] = [];
  readonly #bufferBytes: number;
  readonly #progress = new ConditionVariable();
  #running = 0;

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
    this.#running += 1;
    try {
      return await Bun.zstdCompress(buffer.subarray(start, end), { level: LEVEL });
    } finally {
      this.#running -= 1;
      this.release(buffer);
      this.#progress.notify();
    }
  }

  /** Resolves when fewer than the allowed number of pages are being compressed. */
  async waitForRoom(): Promise<void> {
    while (this.#running >= RUNNING_MAX) await this.#progress.wait();
  }
}
