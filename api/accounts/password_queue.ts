/** Verifies and hashes passwords, two at a time: each takes 64 MiB and 0.1 s of a processor, and anyone can request it. */
import { ApiError } from "../../shared/errors.ts";
import { hashPassword, verifyPassword } from "./password_rules.ts";

const RUNNING_MAX = 2;
/** About five seconds of waiting on two slow processors. */
const WAITING_MAX = 64;

export interface PasswordQueue {
  /** Whether a password is the one that was hashed. */
  verify(password: string, passwordHash: string, options: { isFirst: boolean }): Promise<boolean>;
  /** Hashes a password for storage. */
  hash(password: string, options?: { isFirst: boolean }): Promise<string>;
}

/**
 * Creates an empty queue. `isFirst` work (the account has signed in from this network before) has its own line, which goes
 * first, so that a flood of guesses does not lock users out. Throws SERVICE_UNAVAILABLE when a line is full.
 */
export function createPasswordQueue(): PasswordQueue {
  const first: (() => void)[] = [];
  const others: (() => void)[] = [];
  let running = 0;

  async function run<Result>(isFirst: boolean, work: () => Promise<Result>): Promise<Result> {
    if (running < RUNNING_MAX) running += 1;
    else await waitIn(isFirst ? first : others);
    try {
      return await work();
    } finally {
      // The next caller in the queue takes this place.
      const next = first.shift() ?? others.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    verify: (password, passwordHash, { isFirst }) =>
      run(isFirst, () => verifyPassword(password, passwordHash)),
    hash: (password, { isFirst } = { isFirst: true }) => run(isFirst, () => hashPassword(password)),
  };
}

async function waitIn(line: (() => void)[]): Promise<void> {
  if (line.length >= WAITING_MAX) {
    throw new ApiError("SERVICE_UNAVAILABLE", {
      message: `Too many sign-ins at once: ${line.length} are waiting. Retry after the time in Retry-After.`,
    });
  }
  await new Promise<void>((resolve) => line.push(resolve));
}
