/**
 * Limits concurrent use of a resource: slots for slow work, or bytes of large bodies. There is a limit per holder, per group of
 * holders, and in total. A claim over a limit gets an error response.
 */
import { RETRY_AFTER } from "../../../shared/error_details.ts";
import { ApiError } from "../../../shared/errors.ts";

export interface SlotLimits {
  max: number;
  perHolder: number;
  perGroup: number;
}

export interface Claim {
  /** The user's id, or the network of an anonymous caller. */
  holder: string;
  /** Holders that share a limit, such as an organization's members; null without a group. */
  group: string | null;
  /** The number of slots or bytes; 1 if omitted. */
  amount?: number;
  /** Returns true if the work has ended without a release; false if omitted. */
  isOver?: () => boolean;
}

export interface Permit {
  /** Returns true if this permit has blocked another holder's claim within the last `withinMs`. */
  isContended(withinMs: number): boolean;
  /** Releases the amount. A second call does nothing. */
  release(): void;
}

/** The limit that is reached: the holder's, the group's, or the total. */
type Shortage = "holder" | "group" | "all";

interface Held extends Required<Claim> {
  contendedAt: number;
}

/** The error message for each limit. */
export interface SlotTexts {
  holder: (limit: number) => string;
  /** Set if groups are organizations. The error's details then name the share that is used up. */
  group?: (limit: number) => string;
  all: (reached: { limit: number; seconds: number }) => string;
}

export class Slots {
  readonly limits: SlotLimits;
  readonly #texts: SlotTexts;
  /** The only state. Usage is summed from it, so no counter can drift. */
  readonly #held = new Set<Held>();

  constructor(limits: SlotLimits, texts: SlotTexts) {
    this.limits = limits;
    this.#texts = texts;
  }

  get used(): number {
    this.#forgetEnded();
    return this.#sum(() => true);
  }

  /**
   * Takes the amount. Throws RATE_LIMITED if the share of the holder or organization is used up. Throws SERVICE_UNAVAILABLE if
   * the total, or the share of another kind of group, is used up. A claim may exceed a limit if no other claim counts against it.
   */
  take(claim: Claim): Permit {
    const shortage = this.#findShortage(claim);
    if (shortage === null) return this.hold(claim);
    this.#noteContention(claim, shortage);
    throw this.#error(shortage);
  }

  /** Throws the same error as `take`, without taking a slot, so that HEAD responds like GET. */
  requireFree(claim: Claim): void {
    const shortage = this.#findShortage(claim);
    if (shortage !== null) throw this.#error(shortage);
  }

  /** Takes the amount regardless of the limits, for work that can no longer be rejected but must be counted. */
  hold({ holder, group, amount = 1, isOver = () => false }: Claim): Permit {
    const held: Held = { holder, group, amount, isOver, contendedAt: Number.NEGATIVE_INFINITY };
    this.#held.add(held);
    return {
      isContended: (withinMs) => performance.now() - held.contendedAt <= withinMs,
      release: () => void this.#held.delete(held),
    };
  }

  /** Returns the limit that the claim would exceed now; null if the claim fits. */
  #findShortage({ holder, group, amount = 1 }: Claim): Shortage | null {
    this.#forgetEnded();
    const { max, perHolder, perGroup } = this.limits;
    const isShort = (limit: number, counts: (held: Held) => boolean) => {
      const used = this.#sum(counts);
      return used > 0 && used + amount > limit;
    };
    if (isShort(perHolder, (held) => held.holder === holder)) return "holder";
    if (group !== null && isShort(perGroup, (held) => held.group === group)) return "group";
    return isShort(max, () => true) ? "all" : null;
  }

  /** Marks the permits that block this claim. */
  #noteContention({ holder, group }: Claim, shortage: Shortage): void {
    const now = performance.now();
    for (const held of this.#held) {
      const isShared = shortage === "all" || (shortage === "group" && held.group === group);
      if (isShared && held.holder !== holder) held.contendedAt = now;
    }
  }

  #sum(counts: (held: Held) => boolean): number {
    return this.#held.values().reduce((sum, held) => sum + (counts(held) ? held.amount : 0), 0);
  }

  #forgetEnded(): void {
    for (const held of this.#held) if (held.isOver()) this.#held.delete(held);
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
    const message = all({ limit: shortage === "group" ? perGroup : max, seconds: retryAfter });
    return new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter });
  }
}
