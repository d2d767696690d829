/** Verifies and hashes passwords, two at a time: each takes 64 MiB and 0.1 s of a processor, and anyone can request it. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { FairQueue } from "../../http/limits/fair_queue.ts";
import { hashPassword, verifyPassword } from "../password_rules.ts";

const RUNNING_MAX = 2;
/** About five seconds of waiting on two slow processors. */
const WAITING_MAX = 64;

/**
 * `isFirst` work (the account has signed in from this network before) has its own line, which goes first, so that a flood
 * of guesses does not lock users out. Throws SERVICE_UNAVAILABLE when a line is full.
 */
export class PasswordQueue {
  readonly #queue = new FairQueue({ max: RUNNING_MAX, maxPerCaller: RUNNING_MAX, maxWaiting: WAITING_MAX });

  /** Whether a password is the one that was hashed. */
  verify(password: string, passwordHash: string, { isFirst }: { isFirst: boolean }): Promise<boolean> {
    return this.#run(isFirst, () => verifyPassword(password, passwordHash));
  }

  /** Hashes a password for storage. */
  hash(password: string, { isFirst } = { isFirst: true }): Promise<string> {
    return this.#run(isFirst, () => hashPassword(password));
  }

  #run<Result>(isFirst: boolean, work: () => Promise<Result>): Promise<Result> {
    const message = TEXTS.SERVICE_UNAVAILABLE.signIns(WAITING_MAX);
    const refuse = () => new ApiError("SERVICE_UNAVAILABLE", { message });
    return this.#queue.run({ caller: isFirst ? "known" : "unknown", isFirst, refuse }, work);
  }
}
