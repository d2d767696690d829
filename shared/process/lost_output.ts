/** Handles output that a command cannot write. */

/**
 * Ignores write errors after a reader such as `head` has exited. If the result cannot be written for another reason, the
 * command fails.
 */
export function tolerateLostOutput({
  stdout,
  stderr,
  exit,
}: Pick<NodeJS.Process, "stdout" | "stderr" | "exit">): void {
  stderr.on("error", () => {});
  stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return;
    stderr.write(`Cannot print the result: ${message}\n`);
    exit(1);
  });
}
