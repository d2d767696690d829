/** The start of every command that runs until it is asked to stop: stop requests, progress, readable errors. */
import { fileURLToPath } from "node:url";
import { parentOf } from "./machine.ts";

/** One Ctrl-C can arrive twice: from the terminal, and passed on by `bun run`. */
const SAME_KEYPRESS_MS = 1000;
const LAUNCHER_POLL_MS = 500;

export interface Command {
  /** Aborted by SIGINT, SIGTERM or SIGHUP, and when the launching process has ended. */
  stop: AbortSignal;
  /** Aborted by the second signal. */
  force: AbortSignal;
  /** The repository's root. */
  root: string;
  env: NodeJS.ProcessEnv;
  args: readonly string[];
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Runs a step and shows it on stderr; `note` shows what it is doing. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

/**
 * Runs `run` and returns the exit code: 0 also when asked to stop. Only an entry point calls it, with its own process.
 */
export async function bootstrap(
  self: NodeJS.Process,
  run: (command: Command) => Promise<number>,
): Promise<number> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { env, stdout, stderr } = self;
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
  watchLaunchers(env, () => stop.abort(new Error("Cannot go on: the parent process has ended")));
  const signals = { stop: stop.signal, force: force.signal };
  try {
    const step = openSteps(stderr);
    return await run({ ...signals, root, env, args: self.argv.slice(2), stdout, stderr, step });
  } catch (error) {
    if (stop.signal.aborted) return 0;
    // Errors that a user can fix begin with "Cannot"; others are bugs.
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    stderr.write(`${message.startsWith("Cannot ") ? message : stack}\n`);
    return 1;
  }
}

/** Formats the time since `startedAt`: `0.4 s`. */
export function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** Shows steps on stderr: on a terminal one line each, overwritten while the step runs; elsewhere one line per event. */
function openSteps(stderr: NodeJS.WriteStream): Command["step"] {
  const show = (text: string) =>
    stderr.write(stderr.isTTY ? `\r\u001b[2K${text.slice(0, stderr.columns - 1)}` : `${text}\n`);
  return async (title, work) => {
    const startedAt = performance.now();
    show(`${title} …`);
    try {
      const result = await work((text) => show(`  ${text}`));
      show(`${title}: done in ${elapsed(startedAt)}`);
      return result;
    } finally {
      if (stderr.isTTY) stderr.write("\n");
    }
  };
}

/** Calls `onGone` when `bun run` or the `npx` above it has exited: `npx` does not pass on a SIGTERM. */
function watchLaunchers(env: NodeJS.ProcessEnv, onGone: () => void): void {
  if (!env["npm_lifecycle_event"]) return;
  const byNpm = /np[mx]-cli\.[cm]?js$/.test(env["npm_execpath"] ?? "");
  const listLaunchers = () => `${process.ppid} ${byNpm ? parentOf(process.ppid) : ""}`;
  const launchers = listLaunchers();
  const check = () => void (listLaunchers() === launchers || onGone());
  setInterval(check, LAUNCHER_POLL_MS).unref();
}
