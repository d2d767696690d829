/** The machines of a Citus cluster that hold tracker rows. Exports read on them (docs/scaling.md). */
import { type ServerAddress, withAddress } from "../../shared/database/url.ts";
import type { Log } from "../../shared/process/log.ts";
import { DeadlineExceeded, withTimeout } from "../../shared/process/with_timeout.ts";
import { isConnectionError, openPool, type Pool } from "./pool.ts";
import { ExportLanes, type ExportSnapshot, openExportSnapshot } from "./snapshot.ts";

/** How long a node may take to answer. A request asks it twice before its first byte, and has ten seconds. */
const ANSWER_TIMEOUT_MS = 4000;
/** How often a node that is read from is asked whether it still answers. */
const PROBE_INTERVAL_MS = 2000;
/** Connections for cancellations, watermarks and probes. */
const CONTROL_MAX = 4;
/** Unused connections are closed after this time. */
const IDLE_SECONDS = 60;

export interface NodesOptions {
  /** The coordinator's URL: nodes have the same database, user, password and TLS parameters. */
  url: string;
  applicationName: string;
  /** Connections for snapshots, to each node. */
  max: number;
  /** How many of them may be second connections; none if omitted. */
  lanesMax?: number;
  log: Log;
}

/** The node that holds a project cannot be read now. What is on other nodes can. */
export class NodeUnavailable extends Error {
  override readonly name = "NodeUnavailable";
}

export class Nodes {
  readonly #options: NodesOptions;
  /** By address. One that has left the cluster keeps no connection. */
  readonly #nodes = new Map<string, Node>();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  at(address: ServerAddress): Node {
    const name = `${address.host}:${address.port}`;
    const known = this.#nodes.get(name);
    if (known) return known;
    const node = new Node(name, { ...this.#options, url: withAddress(this.#options.url, address) });
    this.#nodes.set(name, node);
    return node;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.close()));
  }
}

export class Node {
  /** `host:port`. */
  readonly name: string;
  /** Second connections for its snapshots. */
  readonly lanes: ExportLanes;
  readonly #streams: Pool;
  readonly #control: Pool;
  readonly #log: Log;
  readonly #snapshots = new Set<ExportSnapshot>();
  #probe: ReturnType<typeof setInterval> | null = null;

  constructor(name: string, { url, applicationName, max, lanesMax = 0, log }: NodesOptions) {
    const options = { applicationName, readOnly: true, idleSeconds: IDLE_SECONDS };
    this.name = name;
    this.#streams = openPool(url, { ...options, max });
    this.#control = openPool(url, { ...options, max: CONTROL_MAX });
    this.#log = log;
    this.lanes = new ExportLanes({
      pool: this.#streams,
      control: this.#control,
      max: lanesMax,
      log,
      onOpened: (twin) => this.#watch(twin),
    });
  }

  /** Runs a short query. Throws NodeUnavailable if the node does not answer soon. */
  async ask<Result>(query: (sql: Pool) => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(query(this.#control), ANSWER_TIMEOUT_MS);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /**
   * Opens a snapshot whose shards stay where they are until it is closed. Throws NodeUnavailable if the node does not
   * answer soon, SQLSTATE 42P01 if it no longer has the shards, and what `signal` is aborted with. The snapshot is lost
   * when the node stops answering.
   */
  async openSnapshot(shards: readonly string[], signal: AbortSignal): Promise<ExportSnapshot> {
    const opening = this.#openSnapshot(shards, signal);
    try {
      const snapshot = await withTimeout(opening, ANSWER_TIMEOUT_MS);
      this.#watch(snapshot);
      return snapshot;
    } catch (error) {
      // It may open after all. Do not wait for it.
      void opening.then((late) => late.close()).catch(() => {});
      signal.throwIfAborted();
      throw this.#explain(error);
    }
  }

  async close(): Promise<void> {
    if (this.#probe) clearInterval(this.#probe);
    await Promise.all([this.#streams.end({ timeout: 1 }), this.#control.end({ timeout: 1 })]);
  }

  async #openSnapshot(shards: readonly string[], signal: AbortSignal): Promise<ExportSnapshot> {
    const snapshot = await openExportSnapshot(this.#streams, { control: this.#control, signal });
    try {
      // Reads nothing, but locks: a shard that moves away is dropped after the last transaction that has used it.
      await snapshot.run((tx) => tx.unsafe(`select from ${shards.join(", ")} where false`));
      return snapshot;
    } catch (error) {
      await snapshot.close();
      throw error;
    }
  }

  /** The kernel of a machine whose server is stopped keeps its connections open, so silence is no error by itself. */
  #watch(snapshot: ExportSnapshot): void {
    this.#snapshots.add(snapshot);
    void snapshot.ended.then(() => {
      this.#snapshots.delete(snapshot);
      if (this.#snapshots.size > 0 || !this.#probe) return;
      clearInterval(this.#probe);
      this.#probe = null;
    });
    this.#probe ??= setInterval(() => void this.#requireAnswer(), PROBE_INTERVAL_MS);
  }

  async #requireAnswer(): Promise<void> {
    try {
      await this.ask((sql) => sql`select`);
    } catch (error) {
      const lost = [...this.#snapshots];
      if (lost.length === 0) return;
      this.#log.warn({ event: "node.away", node: this.name, err: error }, "a database node does not answer");
      for (const snapshot of lost) void snapshot.destroy();
    }
  }

  #explain(error: unknown): unknown {
    const isAway = error instanceof DeadlineExceeded || isConnectionError(error);
    return isAway
      ? new NodeUnavailable(`The database node ${this.name} does not answer`, { cause: error })
      : error;
  }
}
