/** Turns signals and the exit of parent processes into two requests: stop, and stop at once. */
import { onStdinEnd } from "../../shared/process/stdin_end.ts";
import { parentOf } from "./process_table.ts";

/** One Ctrl-C can arrive twice: from the terminal, and passed on by `bun run`. */
const SAME_KEYPRESS_MS = 1000;
const LAUNCHER_POLL_MS = 500;

export interface StopRequest {
  /** Aborted by SIGINT, SIGTERM or SIGHUP. */
  stop: AbortSignal;
  /** Aborted by the second signal. */
  force: AbortSignal;
}

/** Calls `onGone` when `bun run` or the `npx` above it has exited: `npx` does not pass on a SIGTERM. */
function watchLaunchers(env: NodeJS.ProcessEnv, onGone: () => void): void {
  if (!env["npm_lifecycle_event"]) return;
  const byNpm = /np[mx]-cli\.[cm]?js$/.test(env["npm_execpath"] ?? "");
  const listLaunchers = () => `${process.ppid} ${byNpm ? parentOf(process.ppid) : ""}`;
  const launchers = listLaunchers();
  const timer = setInterval(() => {
    if (listLaunchers() === launchers) return;
    clearInterval(timer);
    onGone();
  }, LAUNCHER_POLL_MS);
  timer.unref();
}

/** Installs the signal handlers on the process that an entry point hands over. */
export function listenForStop(self: NodeJS.Process): StopRequest {
  const stop = new AbortController();
  const force = new AbortController();
  let stoppedAt = 0;
  const onSignal = () => {
    if (!stop.signal.aborted) {
      stoppedAt = performance.now();
      stop.abort(new Error("Cannot go on: asked to stop"));
    } else if (performance.now() - stoppedAt > SAME_KEYPRESS_MS) {
      force.abort();
    }
  };
  const onParentEnd = () => stop.abort(new Error("Cannot go on: the parent process has ended"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) self.on(signal, onSignal);
  watchLaunchers(self.env, onParentEnd);
  onStdinEnd(self, onParentEnd);
  return { stop: stop.signal, force: force.signal };
}
