/** Shares slow work fairly: each caller runs a few tasks at once, and the rest wait without delaying other callers. */
import { RETRY_AFTER } from "../../../shared/error_rows.ts";
import { ApiError } from "../../../shared/errors.ts";
import { requestContext } from "../request_context.ts";
import { type Permit, Semaphore } from "./semaphore.ts";

export const MAX_WAITING_PER_CALLER = 20;

export interface TurnsOptions {
  /** Tasks that run at once. One caller may have half of them. */
  max: number;
  /** Tasks of one caller that may wait; more are refused with 429. */
  maxWaiting?: number;
  /** Plural noun for the error message: publications, lists. */
  what: string;
}

interface Waiting {
  begin(permit: Permit): void;
  /** True if the client has disconnected or has been sent a timeout. */
  isOver(): boolean;
  giveUp(): void;
}

export class Turns {
  readonly #slots: Semaphore;
  readonly #perCaller: number;
  readonly #maxWaiting: number;
  readonly #what: string;
  /** Waiting tasks by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ max, maxWaiting = MAX_WAITING_PER_CALLER, what }: TurnsOptions) {
    this.#perCaller = Math.max(1, Math.floor(max / 2));
    this.#slots = new Semaphore({ max, perHolder: this.#perCaller, perGroup: max });
    this.#maxWaiting = maxWaiting;
    this.#what = what;
  }

  /**
   * Runs `task` when it is the caller's turn. A caller is a user, or the network of an anonymous request. Throws
   * RATE_LIMITED if the caller already has `maxWaiting` tasks waiting, and SERVICE_UNAVAILABLE without running the task if
   * the request is over by then.
   */
  async run<Result>(request: Request, task: () => Promise<Result>): Promise<Result> {
    const permit = await this.#take(request);
    try {
      return await task();
    } finally {
      permit.release();
      this.#beginNext();
    }
  }

  #take(request: Request): Promise<Permit> {
    const context = requestContext(request);
    const holder = context.caller?.userId ?? context.network;
    const result = this.#slots.take({ holder, group: null });
    if (result.ok) return Promise.resolve(result.permit);
    this.#forgetOver();
    const waiting = this.#waiting.get(holder) ?? [];
    if (waiting.length >= this.#maxWaiting) throw this.#queueError(context.caller ? "user" : "network");
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    this.#waiting.set(holder, waiting);
    waiting.push({
      begin: resolve,
      isOver: () => request.signal.aborted || context.error !== null,
      giveUp: () => reject(new ApiError("SERVICE_UNAVAILABLE", { retryAfter: RETRY_AFTER.queue })),
    });
    return promise;
  }

  /** Starts as many tasks as there are free slots, one per caller, and moves those callers to the end of the line. */
  #beginNext(): void {
    this.#forgetOver();
    for (const [holder, [first, ...rest]] of [...this.#waiting]) {
      if (!first) continue;
      const result = this.#slots.take({ holder, group: null });
      if (!result.ok) continue;
      this.#waiting.delete(holder);
      if (rest.length > 0) this.#waiting.set(holder, rest);
      first.begin(result.permit);
    }
  }

  #forgetOver(): void {
    for (const [holder, waiting] of [...this.#waiting]) {
      const left = waiting.filter(({ isOver }) => !isOver());
      if (left.length > 0) this.#waiting.set(holder, left);
      else this.#waiting.delete(holder);
      for (const one of waiting) if (!left.includes(one)) one.giveUp();
    }
  }

  #queueError(share: "user" | "network"): ApiError {
    const limit = this.#perCaller + this.#maxWaiting;
    return new ApiError("RATE_LIMITED", {
      message: `${limit} of your ${this.#what} are running or waiting, which is the limit. Retry when one has finished.`,
      details: { share, limit },
    });
  }
}
