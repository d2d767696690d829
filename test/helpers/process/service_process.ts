/** A process of the service as it is in production: its entry point, just the variables it is given, and its log. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { STOP_ON_STDIN_END } from "../../../shared/process/stdin_end.ts";
import { waitFor } from "../wait_for.ts";

const START_TIMEOUT_MS = 60_000;

export type LogRecord = Record<string, unknown>;

export interface ServiceProcess extends AsyncDisposable {
  pid: number;
  /** The exit code, once all it said has been read; that of a process that was killed is 128 and the signal. */
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** What it has written so far. */
  output: { stdout: string; stderr: string };
  /** Its log, parsed. */
  logLines(): LogRecord[];
  /** Why it did not start: the messages of the lines on stderr, which are JSON like the log. */
  problems(): string;
}

async function collect(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
}

export interface Installation {
  bun: string;
  /** The folder that has `api/`, `jobs/` and the others. */
  root: string;
}

const THIS_CHECKOUT: Installation = {
  bun: process.execPath,
  root: fileURLToPath(new URL("../../..", import.meta.url)),
};

/**
 * Starts the process of `folder/main.ts` with just these variables, and does not wait for anything. `prefix` is a
 * command that becomes the one that follows it. The process ends with ours, even if that is killed.
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

/** Waits until the log has this message and returns its record; ends the process when it does not come. */
export async function untilLogged(service: ServiceProcess, message: string): Promise<LogRecord> {
  const find = () => service.logLines().find((line) => line["message"] === message);
  try {
    return await waitFor(find, START_TIMEOUT_MS);
  } catch (cause) {
    await service[Symbol.asyncDispose]();
    const said = service.output.stderr || service.output.stdout;
    throw new Error(`Cannot start the process: ${said}`, { cause });
  }
}
