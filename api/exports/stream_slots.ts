/** Bounds how much goes on at once of what costs: streams, which hold a snapshot, and downloads from a bucket. */
import { ApiError } from "../../shared/errors.ts";

const RETRY_SLOT_SECONDS = 5;

export class StreamSlots {
  readonly max: number;
  #active = 0;

  constructor(max: number) {
    this.max = max;
  }

  get active(): number {
    return this.#active;
  }

  /**
   * Takes a slot and returns what gives it back (once, however often it is called). Throws SERVICE_UNAVAILABLE when
   * none is free; `attempted` is what cannot be done then.
   */
  take(attempted: string): () => void {
    if (this.#active >= this.max) {
      throw new ApiError("SERVICE_UNAVAILABLE", {
        message: `Cannot ${attempted} now: ${this.max} are running`,
        headers: { "Retry-After": String(RETRY_SLOT_SECONDS) },
      });
    }
    this.#active += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#active -= 1;
    };
  }
}
