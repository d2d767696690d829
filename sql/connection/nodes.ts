/** The nodes of a Citus cluster that store tracker rows. Exports read from the nodes directly (docs/scaling.md). */
import { type ServerAddress, withAddress } from "../../shared/database/url.ts";
import type { Log } from "../../shared/process/log.ts";
import { DeadlineExceeded, withTimeout } from "../../shared/process/with_timeout.ts";
import { isConnectionError, openPool, type Pool } from "./pool.ts";
import { ExportLanes, type ExportSnapshot, openExportSnapshot } from "./snapshot.ts";

/** Response timeout of a node. A request waits for a node twice before its first byte, and has ten seconds in total. */
const ANSWER_TIMEOUT_MS = 4000;
/** Interval between probes of a node that has open snapshots. */
const PROBE_INTERVAL_MS = 2000;
/** Maximum number of connections to a node for cancellations, watermarks and probes. */
const CONTROL_MAX = 4;
/** Idle time after which a connection is closed. */
const IDLE_SECONDS = 60;

export interface NodesOptions {
  /** The coordinator's URL. The nodes have the same database, user, password and TLS parameters. */
  url: string;
  applicationName: string;
  /** Maximum number of snapshot connections to each node. */
  max: number;
  /** How many of these connections may be second connections of an export; none if omitted. */
  lanesMax?: number;
  log: Log;
}

/** The node that stores a project cannot be read now. Projects on other nodes can still be read. */
export class NodeUnavailable extends Error {
  override readonly name = "NodeUnavailable";
}

export class Nodes {
  readonly #options: NodesOptions;
  /** Nodes by address. The connections to a node that has left the cluster are closed when idle. */
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
  /** The node's address as `host:port`. */
  readonly name: string;
  /** Additional connections, with which snapshots of the node read a dataset twice as fast. */
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

  /** Runs a short query. Throws NodeUnavailable if the node does not respond in time. */
  async ask<Result>(query: (sql: Pool) => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(query(this.#control), ANSWER_TIMEOUT_MS);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /**
   * Opens a snapshot that keeps its shards on the node until the snapshot is closed. Throws NodeUnavailable if the node does not
   * respond in time, an error with SQLSTATE 42P01 if the node no longer has the shards, and the abort reason if `signal` is
   * aborted. The snapshot is lost if the node stops responding.
   */
  async openSnapshot(shards: readonly string[], signal: AbortSignal): Promise<ExportSnapshot> {
    const opening = this.#openSnapshot(shards, signal);
    try {
      const snapshot = await withTimeout(opening, ANSWER_TIMEOUT_MS);
      this.#watch(snapshot);
      return snapshot;
    } catch (error) {
      // The snapshot may still open. Close it then, without waiting for it here.
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
      // Reads no rows but locks the shards. A moved shard is dropped only after the last transaction that uses it has ended.
      await snapshot.run((tx) => tx.unsafe(`select from ${shards.join(", ")} where false`));
      return snapshot;
    } catch (error) {
      await snapshot.close();
      throw error;
    }
  }

  /**
   * Probes the node while snapshots are open, and destroys them if the node does not respond. Without probes, a server that hangs
   * would go unnoticed, because its kernel keeps the connections open.
   */
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
