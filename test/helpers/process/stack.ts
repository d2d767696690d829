/** Runs `bun run start` as a child process with its own data directory and port. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chooseFreePort } from "../../../deploy/local/machine.ts";
import { makeClusterFolder, removeCluster } from "../postgres/cluster_folder.ts";
import { waitFor } from "../wait_for.ts";

const ROOT = join(import.meta.dir, "../../..");
const READY = "Ctrl-C stops everything";

export interface DataDirectory extends Disposable {
  path: string;
}

/** Chooses a data directory in a new folder that PostgreSQL's account can enter. `using` deletes the folder. */
export function makeDataDirectory(): DataDirectory {
  const parent = makeClusterFolder("stack");
  const path = join(parent, "data");
  return {
    path,
    [Symbol.dispose]() {
      removeCluster(join(path, "postgres"));
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

/** Copies a data directory and preserves the ownership of its files. */
export function copyDataDirectory(source: DataDirectory): DataDirectory {
  const copy = makeDataDirectory();
  const { exitCode } = Bun.spawnSync(["cp", "-a", source.path, copy.path]);
  if (exitCode !== 0) throw new Error(`Cannot copy ${source.path}: cp ended with ${exitCode}`);
  return copy;
}

/** Lists the ids of running processes that have `dataDirectory` in their arguments or environment. */
export function listProcesses(dataDirectory: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => {
      try {
        return ["cmdline", "environ"].some((file) =>
          readFileSync(`/proc/${pid}/${file}`, "utf8").includes(dataDirectory),
        );
      } catch {
        return false;
      }
    });
}

export interface StackProcess extends AsyncDisposable {
  pid: number;
  port: number;
  /** Returns the output on stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when the service is ready. Rejects if the process exits first. */
  ready(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onText: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }));
}

/** Starts the service on `dataDirectory`. Disposal stops the service and waits until all of its processes have exited. */
export async function startStack(
  dataDirectory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<StackProcess> {
  const port = Number(env["PORT"] ?? chooseFreePort("127.0.0.1"));
  const { DATABASE_URL: _, ...inherited } = process.env;
  const child = Bun.spawn([process.execPath, "deploy/local/main.ts"], {
    cwd: ROOT,
    env: { ...inherited, CATALOG_SOURCE: "bundled", DATA_DIR: dataDirectory, PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  const read = Promise.all([
    collect(child.stdout, (text) => {
      out += text;
    }),
    collect(child.stderr, (text) => {
      err += text;
    }),
  ]);
  const exited = child.exited.then(async (code) => {
    await Promise.race([read, Bun.sleep(500)]);
    return code;
  });
  return {
    pid: child.pid,
    port,
    stdout: () => out,
    stderr: () => err,
    kill: (signal) => child.kill(signal),
    exited,
    async ready() {
      const settled = () => out.includes(READY) || child.exitCode !== null || child.signalCode !== null;
      await waitFor(settled);
      if (!out.includes(READY)) throw new Error(`Cannot start the stack: ${out}\n${err}`);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      const isGone = () => listProcesses(dataDirectory).length === 0;
      await waitFor(isGone);
    },
  };
}
