/** Lets a command end in its own way if nobody takes its output. */

/** A reader that has enough, such as `head`, changes nothing. A result that cannot be written otherwise is a failure. */
export function bearLostOutput({
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
