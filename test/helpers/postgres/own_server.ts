/** A test's own PostgreSQL, which it can stop, kill and restart. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type EmbeddedPostgres,
  SUPERUSER,
  startEmbeddedPostgres,
} from "../../../deploy/local/embedded_postgres.ts";
import { parentOf } from "../../../deploy/local/machine.ts";
import { openSupervisor, type Supervisor } from "../../../deploy/local/supervisor.ts";
import { identifyProcess, signalProcess } from "../process/identity.ts";
import { waitFor } from "../wait_for.ts";
import { makeClusterFolder, removeCluster } from "./cluster_folder.ts";
import { TEST_SETTINGS } from "./server.ts";

const END_TIMEOUT_MS = 30_000;

export class OwnServer implements AsyncDisposable {
  readonly directory: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #binDirectory: string | undefined;
  readonly #supervisor: Supervisor;
  #server: EmbeddedPostgres | null = null;

  /** `binDirectory` has the server's programs; those of the test run by default. */
  constructor({
    isDurable = false,
    binDirectory = process.env["TEST_POSTGRES_BIN"],
    settings = {},
  }: { isDurable?: boolean; binDirectory?: string | undefined; settings?: Record<string, string> } = {}) {
    this.#binDirectory = binDirectory || undefined;
    // Writes as durably as in production.
    this.directory = makeClusterFolder("own", { onDisk: isDurable });
    this.#settings = { ...(isDurable ? {} : TEST_SETTINGS), ...settings };
    this.#supervisor = openSupervisor({ force: new AbortController().signal });
  }

  /** The text of its log so far, and the log's path. */
  get logPath(): string {
    return join(this.directory, "logs", "postgres.log");
  }

  /** The postmaster's process id. */
  get pid(): number {
    if (!this.#server) throw new Error("Cannot name the server's process: it was never started");
    return this.#server.pid;
  }

  /** Starts it on its previous port; throws if that is taken. Returns a superuser's URL. */
  async start(): Promise<string> {
    const before = this.#server?.urls[SUPERUSER];
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

  /** Stops it as an operator would. */
  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  /** Ends the postmaster with a signal and waits until all its processes are gone. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const pids = [this.pid, ...this.children()];
    signalProcess(this.pid, signal);
    await waitFor(() => pids.every((pid) => identifyProcess(pid) === null), END_TIMEOUT_MS);
  }

  /** Suspends all its processes: it keeps its connections and responds to nothing until `thaw()`. */
  freeze(): void {
    for (const pid of [this.pid, ...this.children()]) signalProcess(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of [...this.children(), this.pid]) signalProcess(pid, "SIGCONT");
  }

  /** The postmaster's child processes, including those of connections. */
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
