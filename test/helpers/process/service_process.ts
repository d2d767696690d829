/** Starts a process of the service as in production, with its own entry point, environment and log. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { STOP_ON_STDIN_END } from "../../../shared/process/stdin_end.ts";
import { waitFor } from "../wait_for.ts";

export type LogRecord = Record<string, unknown>;

export interface ServiceProcess extends AsyncDisposable {
  pid: number;
  /**
   * Resolves to the exit code once all output has been read. For a killed process, the code is 128 plus the signal
   * number.
   */
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** The process's output so far. */
  output: { stdout: string; stderr: string };
  /** Returns the process's log so far, one parsed record per line. */
  logLines(): LogRecord[];
  /** Returns the messages of the JSON lines on stderr. They say why the process did not start. */
  problems(): string;
}

async function collect(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
}

export interface Installation {
  bun: string;
  /** The folder that contains `api/`, `jobs/` and `catalog-sync/`. */
  root: string;
}

const THIS_CHECKOUT: Installation = {
  bun: process.execPath,
  root: fileURLToPath(new URL("../../..", import.meta.url)),
};

/**
 * Starts `folder/main.ts` with only the environment `env` and STOP_ON_STDIN_END, and does not wait for it. `prefix` is
 * a command that execs the rest of its command line. The child process exits when its stdin ends, so it does not
 * outlive this process, even if this process is killed.
 */
export function spawnService(
  folder: "api" | "jobs" | "catalog-sync",
  env: Readonly<Record<string, string>>,
  prefix: readonly string[] = [],
  { bun, root }: Installation = THIS_CHECKOUT,
): ServiceProcess {
  const child = Bun.spawn([...prefix, bun, join(root, folder, "main.ts")], {
    cwd: root,
    env: { ...env, [STOP_ON_STDIN_END]: "true" },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "pipe",
  });
  const output = { stdout: "", stderr: "" };
  const read = Promise.all([
    collect(child.stdout, (text) => {
      output.stdout += text;
    }),
    collect(child.stderr, (text) => {
      output.stderr += text;
    }),
  ]);
  return {
    pid: child.pid,
    exited: Promise.all([child.exited, read]).then(([code]) => code),
    kill: (signal) => child.kill(signal),
    output,
    logLines: () =>
      output.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    problems() {
      const lines = output.stderr.split("\n").slice(0, -1);
      return lines.map((line) => `${(JSON.parse(line) as { message: string }).message}\n`).join("");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Waits for a log message and returns its record. If the message does not appear, stops the process and throws. */
export async function untilLogged(service: ServiceProcess, message: string): Promise<LogRecord> {
  const find = () => service.logLines().find((line) => line["message"] === message);
  try {
    return await waitFor(find);
  } catch (cause) {
    await service[Symbol.asyncDispose]();
    const said = service.output.stderr || service.output.stdout;
    throw new Error(`Cannot start the process: ${said}`, { cause });
  }
}
