/** Runs a long-lived command: handles signals, shows progress and formats errors. */
import { fileURLToPath } from "node:url";
import { parentOf } from "./machine.ts";

/** Signals within this time count as one: `bun run` forwards the SIGINT that the terminal also sends for Ctrl-C. */
const SAME_KEYPRESS_MS = 1000;
const LAUNCHER_POLL_MS = 500;

export interface Command {
  /** Aborted by SIGINT, SIGTERM or SIGHUP, or when the launching process has exited. */
  stop: AbortSignal;
  /** Aborted by the second signal. */
  force: AbortSignal;
  /** The repository's root. */
  root: string;
  env: NodeJS.ProcessEnv;
  args: readonly string[];
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Runs a step and shows its title on stderr. `note` shows the progress of the step. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

/** Runs a command and returns its exit code, or 0 if it was asked to stop. Call it only from an entry point. */
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
    // Errors that a user can fix begin with "Cannot". All other errors are bugs.
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    stderr.write(`${message.startsWith("Cannot ") ? message : stack}\n`);
    return 1;
  }
}

/** Formats the time since `startedAt`, such as `0.4 s`. */
export function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** Returns a function that shows steps on stderr. A terminal shows one line per step; other outputs get a line per event. */
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

/** Calls `onGone` when the parent `bun run` or its parent `npx` has exited, because `npx` does not forward SIGTERM. */
function watchLaunchers(env: NodeJS.ProcessEnv, onGone: () => void): void {
  if (!env["npm_lifecycle_event"]) return;
  const byNpm = /np[mx]-cli\.[cm]?js$/.test(env["npm_execpath"] ?? "");
  const listLaunchers = () => `${process.ppid} ${byNpm ? parentOf(process.ppid) : ""}`;
  const launchers = listLaunchers();
  const check = () => void (listLaunchers() === launchers || onGone());
  setInterval(check, LAUNCHER_POLL_MS).unref();
}
