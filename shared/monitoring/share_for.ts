/** Shares one result between concurrent calls, so that the work of a public endpoint does not grow with its requests. */

/** The time limit of a request. A call that has not settled by then is repeated. */
const LOST_AFTER_MS = 30_000;

/**
 * Wraps `make`: calls share a pending result, and reuse a settled one (also a failure) for `ms` milliseconds. `now` returns
 * milliseconds since any point.
 */
export function shareFor<Result>(
  ms: number,
  make: () => Promise<Result>,
  now: () => number = () => performance.now(),
): () => Promise<Result> {
  let shared: Promise<Result> | null = null;
  let sharedUntil = 0;
  return () => {
    if (shared && now() < sharedUntil) return shared;
    sharedUntil = now() + LOST_AFTER_MS;
    const made = make().finally(() => {
      if (shared === made) sharedUntil = now() + ms;
    });
    shared = made;
    return made;
  };
}
