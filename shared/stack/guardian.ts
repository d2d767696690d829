/** A small shell beside us that stops our children when we die without a chance to do it ourselves (`kill -9`). */
import { spawn } from "node:child_process";

/**
 * Reads `SIGNAL:PID` lines until our end of the pipe closes, which it does however we end; then stops the children,
 * newest first, each with up to 25 s before the next.
 */
const SCRIPT = `
list=
while read -r line; do list="$line $list"; done
for entry in $list; do
  pid="\${entry##*:}"
  kill -s "\${entry%%:*}" "$pid" 2>/dev/null || continue
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 250 ]; do sleep 0.1; tries=$((tries + 1)); done
done`;

export interface Guardian extends Disposable {
  /** From now on, `pid` gets `signal` when this process has gone. */
  watch(pid: number, signal: NodeJS.Signals): void;
}

/** Starts the guardian; dispose it after the last child has ended. Does nothing on Windows, which has no `sh`. */
export function startGuardian(): Guardian {
  if (process.platform === "win32") return { watch() {}, [Symbol.dispose]() {} };
  const shell = spawn("/bin/sh", ["-c", SCRIPT], {
    cwd: "/",
    // Out of the terminal's process group: Ctrl-C must not end it before the children have ended.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.stdin.on("error", () => {});
  shell.unref();
  return {
    watch(pid, signal) {
      shell.stdin.write(`${signal.replace(/^SIG/, "")}:${pid}\n`);
    },
    [Symbol.dispose]() {
      shell.kill("SIGKILL");
    },
  };
}
