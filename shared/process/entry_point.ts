/** Starts and stops entry points in the same way for every process of the service. */
import { type Config, readConfig } from "./config.ts";
import { describeListenError } from "./listen_error.ts";
import { createLog, type Log, openStdout, redactSecrets } from "./log.ts";
import { onStdinEnd } from "./stdin_end.ts";
import { describeUnknownVariables } from "./unknown_variables.ts";
import { withTimeout } from "./with_timeout.ts";

/** The parts of `process` that entry points pass on. Only `main.ts` files access `process` itself. */
export interface Host extends Pick<NodeJS.Process, "env" | "stdin" | "exit" | "on"> {
  /** Prints each problem on its own line and exits, with code 1 by default. */
  fail(problems: readonly string[], exitCode?: number): never;
}

/**
 * Wraps a process. A service prints problems as JSON log lines, because programs read stderr and stdout together. At a
 * terminal, or without `service`, problems are printed as text.
 */
export function openHost(
  self: Omit<Host, "fail"> & { stderr: { write(text: string): void; isTTY?: boolean } },
  service?: string,
): Host {
  const { env, stdin, stderr } = self;
  const destination = { write: (line: string) => stderr.write(line) };
  const log =
    service === undefined || stderr.isTTY
      ? null
      : createLog({ level: "fatal", process: service, destination });
  return {
    env,
    stdin,
    exit: (code) => self.exit(code),
    on: self.on.bind(self),
    fail(problems, exitCode = 1) {
      for (const problem of problems.flatMap((text) => text.split("\n"))) {
        if (log) log.fatal({ event: "process.failed" }, problem);
        else stderr.write(`${redactSecrets(problem)}\n`);
      }
      return self.exit(exitCode);
    },
  };
}

/** Returns the configuration. If it is invalid, exits with the problems and with the variables that look misspelled. */
export function readConfigOrExit(host: Host): Config {
  const result = readConfig(host.env);
  if (result.ok) return result.config;
  return host.fail([...result.problems, ...describeUnknownVariables(host.env)]);
}

/** Opens the log of a service on stdout. The first lines warn about variables that look misspelled. */
export function openProcessLog(
  host: Pick<Host, "env" | "on">,
  config: Pick<Config, "logLevel">,
  process: string,
): Log {
  const destination = openStdout(host, (lines) => {
    log.warn({ event: "log.lines_dropped", lines }, "log lines were lost: stdout took none");
  });
  const log = createLog({ level: config.logLevel, process, destination });
  for (const line of describeUnknownVariables(host.env)) log.warn({ event: "config.unknown_variable" }, line);
  return log;
}

/** Starts listening. If that fails, exits with the reason. */
export function listenOrExit(
  host: Host,
  at: { host: string; port: number },
  listen: () => Bun.Server<undefined>,
): Bun.Server<undefined> {
  try {
    return listen();
  } catch (error) {
    return host.fail([describeListenError(at, error)]);
  }
}

export interface StopOptions {
  log: Log;
  /** The phases to run before the connections are closed, in order. */
  phases: readonly ShutdownPhase[];
  tracing: { shutdown(): Promise<void> } | null;
  /** Closes the connections of the process. */
  close: () => Promise<void>;
}

/**
 * Shuts the process down in order on SIGTERM and SIGINT, when the parent process exits (if it requested this), and after an
 * uncaught error, which leaves the process in an unknown state.
 */
export function stopOnSignals(host: Omit<Host, "fail">, { log, phases, tracing, close }: StopOptions): void {
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

export interface ShutdownPhase {
  name: string;
  /** The maximum duration of the phase. Then the next phase starts. */
  timeoutMs: number;
  /** Runs the phase. `reason` is the signal or event that started the shutdown. */
  run: (reason: string) => Promise<void>;
}

interface ShutdownOptions extends Pick<StopOptions, "log" | "phases"> {
  /** Exits the process; an entry point passes `process.exit`. */
  exit: (code: number) => void;
}

/**
 * Returns the shutdown function of a process. The first call runs the phases in sequence, each with its time limit, even if
 * an earlier phase fails. It exits with `exitCode`, or with 1 if a phase failed. A second call exits immediately with 1.
 */
export function createShutdown(options: ShutdownOptions): (reason: string, exitCode?: number) => void {
  const { phases, log, exit } = options;
  let hasBegun = false;

  async function leave(reason: string, exitCode: number): Promise<void> {
    let code = exitCode;
    for (const { name, timeoutMs, run } of phases) {
      try {
        await withTimeout(run(reason), timeoutMs);
      } catch (error) {
        log.error({ phase: name, err: error }, "shutdown phase failed");
        code = 1;
      }
    }
    log.info("stopped");
    exit(code);
  }

  return (reason, exitCode = 0) => {
    if (hasBegun) {
      log.warn({ reason }, "stopping at once");
      exit(1);
      return;
    }
    hasBegun = true;
    log.info({ reason }, "stopping");
    void leave(reason, exitCode);
  };
}
