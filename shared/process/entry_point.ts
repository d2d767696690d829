/** How an entry point starts and stops, the same for every process of the service. */
import { type Config, readConfig } from "./config.ts";
import { createLog, type Log, openStdout, redactSecrets } from "./log.ts";
import { createShutdown, type ShutdownPhase } from "./shutdown.ts";
import { onStdinEnd } from "./stdin_end.ts";
import { describeUnknownVariables } from "./unknown_variables.ts";

/** What an entry point passes on: only `main.ts` files touch `process`. */
export interface Host extends Pick<NodeJS.Process, "env" | "stdin" | "exit" | "on"> {
  stderr: { write(text: string): void };
}

/**
 * Wraps the process of a service: each line that it writes to stderr is a JSON line of the log, because programs read stderr
 * and stdout together. At a terminal, where a person reads it, it stays text.
 */
export function serviceHost(host: Host & { stderr: { isTTY?: boolean } }, name: string): Host {
  if (host.stderr.isTTY) return host;
  const destination = { write: (line: string) => host.stderr.write(line) };
  const log = createLog({ level: "fatal", process: name, destination });
  return {
    env: host.env,
    stdin: host.stdin,
    exit: (code) => host.exit(code),
    on: host.on.bind(host),
    stderr: {
      write(text) {
        for (const line of text.trimEnd().split("\n")) log.fatal({ event: "process.failed" }, line);
      },
    },
  };
}

/** Prints each problem on a line of its own and exits with code 1. */
function exitWithProblems(host: Host, ...problems: readonly string[]): never {
  for (const problem of problems) host.stderr.write(`${redactSecrets(problem)}\n`);
  return host.exit(1);
}

/** Returns the configuration, or exits with its problems. Then misspelled variables are listed, too. */
export function readConfigOrExit(host: Host): Config {
  const result = readConfig(host.env);
  if (result.ok) return result.config;
  return exitWithProblems(host, ...result.problems, ...describeUnknownVariables(host.env));
}

/** Opens the log of a serving process on stdout. Its first lines warn about variables that look misspelled. */
export function openProcessLog(host: Host, config: Pick<Config, "logLevel">, process: string): Log {
  const destination = openStdout(host, (lines) => {
    log.warn({ event: "log.lines_dropped", lines }, "log lines were lost: stdout took none");
  });
  const log = createLog({ level: config.logLevel, process, destination });
  for (const line of describeUnknownVariables(host.env)) log.warn({ event: "config.unknown_variable" }, line);
  return log;
}

/** Starts to listen, or exits if the port is taken or not allowed. */
export function listenOrExit(
  host: Host,
  at: { host: string; port: number },
  listen: () => Bun.Server<undefined>,
): Bun.Server<undefined> {
  try {
    return listen();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    const reason = code === "EADDRINUSE" ? "the port is taken" : code;
    return exitWithProblems(host, `Cannot listen on ${at.host}:${at.port}: ${reason}`);
  }
}

/** Returns the result of `start`, or exits with its error. `describe` returns the line for errors that it knows. */
export async function startOrExit<Result>(
  host: Host,
  describe: (error: unknown) => string | null,
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return exitWithProblems(host, describe(error) ?? `Cannot start: ${text}`);
  }
}

export interface StopOptions {
  log: Log;
  /** What has to end first, in order. */
  phases: readonly ShutdownPhase[];
  tracing: { shutdown(): Promise<void> } | null;
  /** Closes the connections of the process. */
  close: () => Promise<void>;
}

/**
 * Ends the process in order on SIGTERM and SIGINT, when the parent process ends (if it asked for that), and after an uncaught
 * error, which leaves the process in an unknown state.
 */
export function stopOnSignals(host: Host, { log, phases, tracing, close }: StopOptions): void {
  const shutdown = createShutdown({
    log,
    exit: (code) => host.exit(code),
    phases: [
      ...phases,
      { name: "send traces", timeoutMs: 3_000, run: async () => tracing?.shutdown() },
      { name: "close database", timeoutMs: 3_000, run: close },
    ],
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) host.on(signal, () => shutdown(signal));
  onStdinEnd(host, () => shutdown("end of the parent process"));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    host.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      shutdown(event, 1);
    });
  }
}
