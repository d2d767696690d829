/** Starts child processes outside the terminal's process group. Stops them newest first, first gracefully, then by force. */
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { settlesWithin, untilAborted } from "../../shared/process/with_timeout.ts";

/** Number of output lines to keep per child. */
const LAST_LINES = 20;
/** A log file above this size is renamed to `<name>.1` at the next start. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** The account to run a child as. Only root can choose an account. */
export interface RunAs {
  uid: number;
  gid: number;
}

export interface ChildOptions {
  /** The child's name in messages. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** With STOP_ON_STDIN_END, the child's stdin stays open until this process exits, even by `kill -9`. */
  env: NodeJS.ProcessEnv;
  runAs?: RunAs | undefined;
  /** Destination of stdout and stderr: those of this process, a file to append to, or a function that gets each line. */
  output: "inherit" | { logPath: string } | ((line: string, stream: "stdout" | "stderr") => void);
  /** All input of the child's stdin; empty by default. */
  input?: string | undefined;
  /** Signals that stop the child, in order; SIGTERM by default. SIGKILL follows the last signal. */
  stopSignals?: readonly [polite: NodeJS.Signals, ...stronger: NodeJS.Signals[]];
  /** Maximum time between the polite signal and the next signal. */
  graceMs?: number;
}

export interface Child extends AsyncDisposable {
  name: string;
  pid: number;
  /** Resolves when the child has exited and its output has been read. Never rejects. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | number | null }>;
  hasExited(): boolean;
  /** The last output lines without empty lines, oldest first. Always empty unless `output` is a function. */
  lastLines: readonly string[];
  /** The file with the child's output; null if the output has another destination. */
  logPath: string | null;
  /** Stops the child and waits until its output has been read. Safe to call twice. */
  stop(): Promise<void>;
}

export interface Supervisor extends AsyncDisposable {
  /** Starts a child. Throws if the program cannot be run or the supervisor has been disposed. */
  spawn(options: ChildOptions): Promise<Child>;
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | number | undefined,
  onLine: (line: string) => void,
): Promise<void> {
  if (!(stream instanceof ReadableStream)) return;
  let rest = "";
  // Only LF ends a log line. `readline` would also split at U+2028, which users' texts may contain.
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  }
  if (rest) onLine(rest);
}

/** Opens a log file for appending. Creates the file and its folder if needed. */
function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  // Log lines name callers, so only the file's owner can read them.
  return openSync(path, "a", 0o600);
}

function launch({ name, command, args, cwd, env, runAs, output, input }: ChildOptions): Bun.Subprocess {
  const stdin =
    env[STOP_ON_STDIN_END] === "true" ? "pipe" : input === undefined ? "ignore" : Buffer.from(input);
  let log: number | null = null;
  try {
    // The child writes to the file itself, so no output is lost if this process is killed.
    if (typeof output === "object") log = openLog(output.logPath);
    const sink = output === "inherit" ? output : (log ?? "pipe");
    return Bun.spawn([command, ...args], {
      cwd,
      env,
      ...runAs,
      // Ctrl-C reaches the terminal's whole process group, but the supervisor must control the order of stopping.
      detached: true,
      stdio: [stdin, sink, sink],
    });
  } catch (cause) {
    throw new Error(`Cannot run ${name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  } finally {
    if (log !== null) closeSync(log);
  }
}

function startChild(options: ChildOptions, force: AbortSignal): Child {
  const { name, output, stopSignals = ["SIGTERM"], graceMs = 40_000 } = options;
  const [polite, ...stronger] = stopSignals;
  const subprocess = launch(options);
  const lastLines: string[] = [];
  const onLine = (line: string, stream: "stdout" | "stderr") => {
    if (line.trim() !== "") lastLines.push(line);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    if (typeof output === "function") output(line, stream);
  };
  const read = Promise.all([
    readLines(subprocess.stdout, (line) => onLine(line, "stdout")),
    readLines(subprocess.stderr, (line) => onLine(line, "stderr")),
  ]);
  const hasExited = () => subprocess.exitCode !== null || subprocess.signalCode !== null;
  const endBy = (signal: NodeJS.Signals, timeoutMs: number) => {
    subprocess.kill(signal);
    return settlesWithin(subprocess.exited, timeoutMs);
  };
  const exited = subprocess.exited.then(async () => {
    // A grandchild may keep the pipe open. Do not wait for its later output.
    await settlesWithin(read, 1000);
    return { code: subprocess.exitCode, signal: subprocess.signalCode };
  });
  const stop = async () => {
    const isPolite = hasExited() || (await untilAborted(endBy(polite, graceMs), force).catch(() => false));
    for (const signal of isPolite ? [] : [...stronger, "SIGKILL" as const]) {
      if (await endBy(signal, 5000)) break;
    }
    // Wait until the output function has received the last lines, because this process may exit next.
    if (hasExited()) await exited;
  };
  return {
    name,
    pid: subprocess.pid,
    exited,
    hasExited,
    lastLines,
    logPath: typeof output === "object" ? output.logPath : null,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Opens a supervisor. Disposing it stops the remaining children, newest first. Aborting `force` skips the grace period. */
export function openSupervisor({ force }: { force: AbortSignal }): Supervisor {
  const children: Child[] = [];
  let isClosed = false;
  return {
    async spawn(options) {
      if (isClosed) throw new Error(`Cannot run ${options.name}: everything is being stopped`);
      const child = startChild(options, force);
      children.push(child);
      return child;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const child of children.toReversed()) await child.stop();
    },
  };
}

/** Describes how a child exited. */
export function describeExit(exit: Awaited<Child["exited"]>): string {
  return exit.signal ? `ended by ${exit.signal}` : `exit code ${exit.code}`;
}
