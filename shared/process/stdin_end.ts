/** Notices the exit of the parent process, even by `kill -9`: the kernel then closes the pipe on stdin. */

/** Set by a parent that keeps the child's stdin open; other parents may close it at any time. */
export const STOP_ON_STDIN_END = "STOP_ON_STDIN_END";

/** Calls `stop` when the parent ends, if the parent asked for that. */
export function onStdinEnd(host: Pick<NodeJS.Process, "env" | "stdin">, stop: () => void): void {
  if (host.env[STOP_ON_STDIN_END] !== "true") return;
  host.stdin.once("close", stop);
  host.stdin.resume();
  // Does not keep a finished program running.
  host.stdin.unref();
}
