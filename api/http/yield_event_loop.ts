/** Lets long work yield to the event loop. */

/** Global, because the event loop is. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop in which no other waiter continues. Call it between pieces of work of some
 * milliseconds; otherwise twenty requests at the same point would all run in one turn.
 */
export function yieldEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(releaseFirst);
  });
}

function releaseFirst(): void {
  if (waiting.length > 1) setImmediate(releaseFirst);
  waiting.shift()?.();
}
