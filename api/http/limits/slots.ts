/** Slots of work that takes long: how many run at once, and the error response for a caller who gets none. */
import { RETRY_AFTER } from "../../../shared/error_rows.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type Claim, type Permit, Semaphore, type SemaphoreLimits, type Shortage } from "./semaphore.ts";

/** What is said to a caller when a limit is reached. */
export interface SlotTexts {
  holder: (limit: number) => string;
  /** Set if holders have groups. Then the error says whose share is used up. */
  group?: (limit: number) => string;
  all: (reached: { limit: number; seconds: number }) => string;
}

export class Slots {
  readonly limits: SemaphoreLimits;
  readonly #semaphore: Semaphore;
  readonly #texts: SlotTexts;

  constructor(limits: SemaphoreLimits, texts: SlotTexts) {
    this.limits = limits;
    this.#semaphore = new Semaphore(limits);
    this.#texts = texts;
  }

  get used(): number {
    return this.#semaphore.used;
  }

  /**
   * Takes a slot. Throws RATE_LIMITED if the share of the holder or group is used up, SERVICE_UNAVAILABLE if all slots of
   * the process are.
   */
  take(claim: Claim): Permit {
    const result = this.#semaphore.take(claim);
    if (result.ok) return result.permit;
    throw this.#error(result.shortage);
  }

  /** Throws what `take` would, without taking a slot, so that HEAD responds like GET. */
  requireFree(claim: Claim): void {
    const shortage = this.#semaphore.findShortage(claim);
    if (shortage !== null) throw this.#error(shortage);
  }

  #error(shortage: Shortage): ApiError {
    const { max, perHolder, perGroup } = this.limits;
    const { holder, group, all } = this.#texts;
    const retryAfter = RETRY_AFTER.stream;
    if (shortage === "group" && group) {
      const details = { share: "organization", limit: perGroup };
      return new ApiError("RATE_LIMITED", { message: group(perGroup), details, retryAfter });
    }
    if (shortage === "holder") {
      const details = group ? { details: { share: "user", limit: perHolder } } : {};
      return new ApiError("RATE_LIMITED", { message: holder(perHolder), ...details, retryAfter });
    }
    return new ApiError("SERVICE_UNAVAILABLE", {
      message: all({ limit: max, seconds: retryAfter }),
      retryAfter,
    });
  }
}
