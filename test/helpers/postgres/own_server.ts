/** Runs a PostgreSQL server for one test. The test can stop, kill and restart it. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type EmbeddedPostgres,
  openCluster,
  SUPERUSER,
  startEmbeddedPostgres,
} from "../../../deploy/local/embedded_postgres.ts";
import { parentOf } from "../../../deploy/local/machine.ts";
import { openSupervisor, type Supervisor } from "../../../deploy/local/supervisor.ts";
import { runCommand } from "../process/command.ts";
import { identifyProcess, signalProcess } from "../process/identity.ts";
import { waitFor } from "../wait_for.ts";
import { makeClusterFolder, removeCluster } from "./cluster_folder.ts";
import { TEST_SETTINGS } from "./server.ts";

/** Unused clusters, by the folder of their PostgreSQL programs. Copying a cluster takes a tenth of the time of `initdb`. */
const pristine = new Map<string | undefined, Promise<string>>();

/** Copies an unused cluster to `location`. */
async function copyCluster(binDirectory: string | undefined, location: string): Promise<void> {
  let made = pristine.get(binDirectory);
  if (!made) {
    const supervisor = openSupervisor({ force: new AbortController().signal });
    // Test processes are killed at the end of a run, so they cannot delete the unused cluster. The run's folder is
    // deleted afterwards.
    const run = process.env["TEST_FOLDER"] ?? makeClusterFolder("pristine");
    const folder = join(run, `pristine-${process.pid}-${pristine.size}`);
    mkdirSync(folder);
    const options = { isDurable: false, binDirectory };
    made = openCluster(supervisor, join(folder, "postgres"), options).then(({ path }) => path);
    pristine.set(binDirectory, made);
  }
  const { exitCode, stderr } = await runCommand(["cp", "-a", await made, location]);
  if (exitCode !== 0) throw new Error(`Cannot copy a cluster: ${stderr}`);
}

export class OwnServer implements AsyncDisposable {
  readonly directory: string;
  readonly #isDurable: boolean;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #binDirectory: string | undefined;
  readonly #supervisor: Supervisor;
  #server: EmbeddedPostgres | null = null;

  /**
   * `binDirectory` contains the server's programs, by default those of the test run. With `isDurable`, the server keeps
   * its files on disk and PostgreSQL's default durability settings.
   */
  constructor({
    isDurable = false,
    binDirectory = process.env["TEST_POSTGRES_BIN"],
    settings = {},
  }: { isDurable?: boolean; binDirectory?: string | undefined; settings?: Record<string, string> } = {}) {
    this.#binDirectory = binDirectory || undefined;
    this.#isDurable = isDurable;
    this.directory = makeClusterFolder("own", { onDisk: isDurable });
    this.#settings = { ...(isDurable ? {} : TEST_SETTINGS), ...settings };
    this.#supervisor = openSupervisor({ force: new AbortController().signal });
  }

  /** The path of the server's log. */
  get logPath(): string {
    return join(this.directory, "logs", "postgres.log");
  }

  /** The postmaster's process id. */
  get pid(): number {
    if (!this.#server) throw new Error("Cannot name the server's process: it was never started");
    return this.#server.pid;
  }

  /** Starts the server and returns a superuser's URL. A restart uses the previous port, and throws if that port is taken. */
  async start(): Promise<string> {
    const before = this.#server?.urls[SUPERUSER];
    const location = join(this.directory, "postgres");
    if (!this.#isDurable && !existsSync(location)) await copyCluster(this.#binDirectory, location);
    this.#server = await startEmbeddedPostgres({
      supervisor: this.#supervisor,
      dataDirectory: this.directory,
      settings: this.#settings,
      hasSuperuser: true,
      binDirectory: this.#binDirectory,
    });
    const url = this.#server.urls[SUPERUSER];
    if (before !== undefined && before !== url) {
      throw new Error("Cannot go on: the server's port was taken by somebody else");
    }
    return url;
  }

  /** Stops the server with a fast shutdown (SIGINT). */
  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  /** Sends a signal to the postmaster, and waits until all of the server's processes have exited. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const pids = [this.pid, ...this.children()];
    signalProcess(this.pid, signal);
    await waitFor(() => pids.every((pid) => identifyProcess(pid) === null));
  }

  /** Suspends all of the server's processes. The server keeps its connections but does not respond until `thaw()`. */
  freeze(): void {
    for (const pid of [this.pid, ...this.children()]) signalProcess(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of [...this.children(), this.pid]) signalProcess(pid, "SIGCONT");
  }

  /** Returns the ids of the postmaster's child processes, including the backends of connections. */
  children(): number[] {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && parentOf(pid) === this.pid);
  }

  async [Symbol.asyncDispose]() {
    await this.#supervisor[Symbol.asyncDispose]();
    removeCluster(join(this.directory, "postgres"));
    rmSync(this.directory, { recursive: true, force: true });
  }
}
