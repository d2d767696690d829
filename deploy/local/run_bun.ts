/** Runs Bun for a task that ends, such as an installation or the migrations. */
import { StartError } from "./start_error.ts";
import { describeExit, type Supervisor } from "./supervisor.ts";

export interface RunBunOptions {
  supervisor: Supervisor;
  /** Completes "Cannot …" in the error message. */
  purpose: string;
  /** A file of ours with its arguments, or a command of Bun. */
  args: readonly string[];
  root: string;
  env: NodeJS.ProcessEnv;
  /** Gets every line of stderr, where our commands print progress. */
  note: (line: string) => void;
}

/** Waits for the end; throws StartRefusal with the last lines of output on failure. */
export async function runBun(options: RunBunOptions): Promise<void> {
  const { supervisor, purpose, args, root, env, note } = options;
  const lines: string[] = [];
  const child = await supervisor.spawn({
    name: purpose,
    command: process.execPath,
    args,
    cwd: root,
    env,
    stopsOnStdinEnd: true,
    output(line, stream) {
      if (line.trim() === "") return;
      lines.push(line);
      if (stream === "stderr") note(line);
    },
  });
  const exit = await child.exited;
  if (exit.code === 0) return;
  throw new StartError(`Cannot ${purpose}: ${lines.slice(-3).join("\n") || describeExit(exit)}`);
}
