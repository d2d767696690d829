/** Detects the exit of the parent process, even by `kill -9`, because the kernel then closes the pipe on stdin. */

/** The variable that a parent sets if it keeps the child's stdin open. Other parents may close stdin at any time. */
export const STOP_ON_STDIN_END = "STOP_ON_STDIN_END";

/** Calls `stop` when the parent process exits, if the parent has requested this. */
export function onStdinEnd(host: Pick<NodeJS.Process, "env" | "stdin">, stop: () => void): void {
  if (host.env[STOP_ON_STDIN_END] !== "true") return;
  host.stdin.once("close", stop);
  host.stdin.resume();
  // A finished program must not keep running because of stdin.
  host.stdin.unref();
}
