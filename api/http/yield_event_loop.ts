/** Lets long-running work yield to the event loop. */

/** Global, because the process has one event loop. */
const waiting: (() => void)[] = [];

/**
 * Resolves in an event loop turn in which no other waiter continues. Otherwise, twenty requests at the same point would all run
 * in one turn. Call it between steps of a few milliseconds.
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
