/** The start of every command that runs until it is asked to stop: stop requests, progress, readable errors. */
import { fileURLToPath } from "node:url";
import { parentOf } from "./machine.ts";
import { describeFailure, openProgress, type Progress } from "./terminal.ts";

/** One Ctrl-C can arrive twice: from the terminal, and passed on by `bun run`. */
const SAME_KEYPRESS_MS = 1000;
const LAUNCHER_POLL_MS = 500;

export interface Command {
  /** Aborted by SIGINT, SIGTERM or SIGHUP, and when what launched us has ended. */
  stop: AbortSignal;
  /** Aborted by the second signal. */
  force: AbortSignal;
  /** The repository's root. */
  root: string;
  env: NodeJS.ProcessEnv;
  args: readonly string[];
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  progress: Progress;
}

/**
 * Runs `run` and returns the exit code: 0 also when asked to stop. Only an entry point calls it, with its own process.
 */
export async function bootstrap(
  self: NodeJS.Process,
  run: (command: Command) => Promise<number>,
): Promise<number> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const signals = listenForStop(self);
  const { env, stdout, stderr } = self;
  const progress = openProgress(stderr);
  try {
    return await run({ ...signals, root, env, args: self.argv.slice(2), stdout, stderr, progress });
  } catch (error) {
    if (signals.stop.aborted) return 0;
    stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}

/** Installs the signal handlers on the process that an entry point hands over. */
function listenForStop(self: NodeJS.Process): Pick<Command, "stop" | "force"> {
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
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) self.on(signal, onSignal);
  watchLaunchers(self.env, () => stop.abort(new Error("Cannot go on: the parent process has ended")));
  return { stop: stop.signal, force: force.signal };
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
