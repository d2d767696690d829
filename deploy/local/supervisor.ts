/** Starts children outside the terminal's process group and ends them in order: newest first, politely, then by force. */
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { settlesWithin, untilAborted } from "../../shared/process/with_timeout.ts";

/** How many of a child's last lines are kept. */
const LAST_LINES = 20;
/** A log file past this size becomes `<name>.1` at the next start. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** An unprivileged account to run as; only root can choose one. */
export interface RunAs {
  uid: number;
  gid: number;
}

export interface ChildOptions {
  /** What messages call it. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** With STOP_ON_STDIN_END, stdin stays open until this process ends, even by `kill -9`. */
  env: NodeJS.ProcessEnv;
  runAs?: RunAs | undefined;
  /** Where stdout and stderr go: to ours, to the end of a file, or line by line to a function. */
  output: "inherit" | { logPath: string } | ((line: string, stream: "stdout" | "stderr") => void);
  /** The whole of the child's stdin; empty by default. */
  input?: string | undefined;
  /** Signals that end it, the polite one first; SIGTERM by default. SIGKILL follows. */
  stopSignals?: readonly [polite: NodeJS.Signals, ...stronger: NodeJS.Signals[]];
  /** How long the polite signal may take. */
  graceMs?: number;
}

export interface Child extends AsyncDisposable {
  name: string;
  pid: number;
  /** Settles when the child has ended and its output has been read. Never rejects. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | number | null }>;
  hasExited(): boolean;
  /** Its last lines, oldest first, without empty ones; none unless a function gets them. */
  lastLines: readonly string[];
  /** The file with its output; null if it goes elsewhere. */
  logPath: string | null;
  /** Ends the child and waits until its output has been read. Safe to call twice. */
  stop(): Promise<void>;
}

export interface Supervisor extends AsyncDisposable {
  /** Throws when the program cannot be run, or the supervisor has been disposed. */
  spawn(options: ChildOptions): Promise<Child>;
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | number | undefined,
  onLine: (line: string) => void,
): Promise<void> {
  if (!(stream instanceof ReadableStream)) return;
  let rest = "";
  // Only LF ends a line of a log: `readline` also splits at U+2028, which texts of users contain.
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  }
  if (rest) onLine(rest);
}

/** Opens a log file to append to it; creates it and its folder if needed. */
function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  // Log lines name callers, so only the owner can read them.
  return openSync(path, "a", 0o600);
}

function launch({ name, command, args, cwd, env, runAs, output, input }: ChildOptions): Bun.Subprocess {
  const stdin =
    env[STOP_ON_STDIN_END] === "true" ? "pipe" : input === undefined ? "ignore" : Buffer.from(input);
  let log: number | null = null;
  try {
    // The child writes to the file itself, so its last lines are there even if we are killed.
    if (typeof output === "object") log = openLog(output.logPath);
    const sink = output === "inherit" ? output : (log ?? "pipe");
    return Bun.spawn([command, ...args], {
      cwd,
      env,
      ...runAs,
      // Ctrl-C reaches the terminal's whole process group; we decide the order of stopping.
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
    // A grandchild may hold the pipe open; its later output is not waited for.
    await settlesWithin(read, 1000);
    return { code: subprocess.exitCode, signal: subprocess.signalCode };
  });
  const stop = async () => {
    const isPolite = hasExited() || (await untilAborted(endBy(polite, graceMs), force).catch(() => false));
    for (const signal of isPolite ? [] : [...stronger, "SIGKILL" as const]) {
      if (await endBy(signal, 5000)) break;
    }
    // We may exit next, and a function gets its last lines.
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

/** Opens a supervisor; disposing it ends the children that are left, newest first; by force once `force` is aborted. */
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

/** How a child ended, in words. */
export function describeExit(exit: Awaited<Child["exited"]>): string {
  return exit.signal ? `ended by ${exit.signal}` : `exit code ${exit.code}`;
}
