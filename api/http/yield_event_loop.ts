/** Lets pieces of long work take turns of the event loop, so that everything else comes in between. */

/** Those that wait are one process's, as its event loop is. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop in which no other waiter goes on. Call it between pieces of work of some
 * milliseconds: twenty requests that reach the same point at once would otherwise do all of it in one turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(releaseFirst);
  });
}

function releaseFirst(): void {
  if (waiting.length > 1) setImmediate(releaseFirst);
  waiting.shift()?.();
}
