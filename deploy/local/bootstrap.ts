/** The start of every command that may run on a fresh machine: stop requests, dependencies, readable errors. */
import { fileURLToPath } from "node:url";
import { onStdinEnd, STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { installDependencies } from "./install.ts";
import { parentOf } from "./machine.ts";
import { openSupervisor, untilAborted } from "./supervisor.ts";
import { describeFailure, openProgress, type Progress } from "./terminal.ts";

/** Longer than the second process needs to stop its children. */
const RERUN_GRACE_MS = 60_000;
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
  progress: Progress;
  /** When the command began, by `performance.now()`. */
  startedAt: number;
}

/**
 * Runs `run` with the dependencies installed and returns the exit code: 0 also when asked to stop. `run` must import
 * dynamically whatever needs a package. Only an entry point calls it, with its own process.
 */
export async function bootstrap(
  self: NodeJS.Process,
  run: (command: Command) => Promise<number>,
): Promise<number> {
  const startedAt = performance.now();
  const [, entry = "", ...args] = self.argv;
  // It is about our own stdin, not about our children's.
  const { [STOP_ON_STDIN_END]: _, ...env } = self.env;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const command: Command = {
    ...listenForStop(self),
    ...{ root, env, args, progress: openProgress(self.stderr), startedAt },
  };
  try {
    if (!(await installFirst(command))) return await run(command);
    return await rerun(entry, command);
  } catch (error) {
    if (command.stop.aborted) return 0;
    self.stderr.write(`${describeFailure(error)}\n`);
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
  const onParentEnd = () => stop.abort(new Error("Cannot go on: the parent process has ended"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) self.on(signal, onSignal);
  watchLaunchers(self.env, onParentEnd);
  onStdinEnd(self, onParentEnd);
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

async function installFirst(command: Command): Promise<boolean> {
  await using supervisor = openSupervisor(command);
  return await untilAborted(installDependencies({ ...command, supervisor }), command.stop);
}

/** Continues in a second process: the resolver of this one has cached that the packages are missing. */
async function rerun(entry: string, { root, env, args, force, stop }: Command): Promise<number> {
  await using supervisor = openSupervisor({ force });
  const child = await supervisor.spawn({
    name: "the installed command",
    command: process.execPath,
    args: [entry, ...args],
    cwd: root,
    env,
    output: "inherit",
    stopsOnStdinEnd: true,
    graceMs: RERUN_GRACE_MS,
  });
  const { code } = await untilAborted(child.exited, stop);
  return code ?? 1;
}
