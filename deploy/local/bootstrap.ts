/** The start of every command that may run on a fresh machine: stop requests, dependencies, readable errors. */
import { fileURLToPath } from "node:url";
import { STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { installDependencies } from "./install.ts";
import { openProgress, type Progress } from "./progress.ts";
import { describeFailure } from "./start_error.ts";
import { listenForStop, type StopRequest } from "./stop_request.ts";
import { openSupervisor } from "./supervisor.ts";
import { untilAborted } from "./wait.ts";

/** Longer than the second process needs to stop its children. */
const RERUN_GRACE_MS = 60_000;

export interface Command extends StopRequest {
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
  const request = listenForStop(self);
  // It is about our own stdin, not about our children's.
  const { [STOP_ON_STDIN_END]: _, ...env } = self.env;
  const command: Command = {
    ...request,
    root: fileURLToPath(new URL("../..", import.meta.url)),
    env,
    args,
    progress: openProgress(self.stderr),
    startedAt,
  };
  try {
    if (!(await installFirst(command))) return await run(command);
    return await rerun(entry, command);
  } catch (error) {
    if (request.stop.aborted) return 0;
    self.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
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
