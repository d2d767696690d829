/** The API as the process it is in production, for tests of its start and its end. */
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait_for.ts";

const MAIN = fileURLToPath(new URL("../../api/main.ts", import.meta.url));

export interface ApiProcess extends AsyncDisposable {
  pid: number;
  /** Set once it listens. */
  url: string;
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** What it has written so far. */
  output: { stdout: string; stderr: string };
  /** Its log, parsed. */
  logLines(): Record<string, unknown>[];
}

async function collect(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
}

/** Starts the process with just these variables, and does not wait for anything. */
export function spawnApi(env: Readonly<Record<string, string>>): ApiProcess {
  const child = Bun.spawn([process.execPath, MAIN], { env, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
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
    url: "",
    // Not before all it said has been read.
    exited: Promise.all([child.exited, read]).then(([code]) => code),
    kill: (signal) => child.kill(signal),
    output,
    logLines: () =>
      output.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Starts the process on a free port and waits until it listens. */
export async function startApi(env: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const api = spawnApi({ PORT: "0", ...env });
  const listening = () => api.logLines().find((line) => line["message"] === "listening");
  try {
    await waitFor(() => listening() !== undefined, 15_000);
  } catch (cause) {
    await api[Symbol.asyncDispose]();
    throw new Error(`Cannot start the API: ${api.output.stderr || api.output.stdout}`, { cause });
  }
  api.url = `http://127.0.0.1:${listening()?.["port"]}`;
  return api;
}
