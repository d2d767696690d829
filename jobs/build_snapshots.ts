/** Opens the snapshots that a build reads from: many small projects share one. */
import type { ExportDatasetName } from "../shared/exports/datasets.ts";
import { listLiveProjects } from "../sql/accounts/projects.ts";
import type { Replica, WalPosition } from "../sql/connection/replica.ts";
import { type ExportSnapshot, preferParallelCopies } from "../sql/connection/snapshot.ts";
import type { ExportJobRow } from "../sql/exports/jobs.ts";
import { openSource, type SourceDatabases } from "../sql/exports/open_source.ts";
import { findPopulatedDatasets } from "../sql/exports/project_entries.ts";
import { areTimesChecked } from "../sql/exports/select_rows.ts";
import { requireChangeLog } from "../sql/exports/tracker_changes.ts";
import type { TrackerShards } from "../sql/tracker/tracker_shards.ts";

/** How old a snapshot may be when the next project is read from it. Opening one takes as long as a small project. */
export const SHARED_MS = 1000;
/** As many projects as can be read within that time, and the cost of looking at them stays small beside it. */
const NEIGHBORS = 200;

interface Build {
  job: ExportJobRow;
  signal: AbortSignal;
  /** All projects of the export, in the order in which they are read. */
  projectIds: readonly string[];
}

/** Where to read a project. */
export interface ProjectSource {
  snapshot: ExportSnapshot;
  /** What to read there in place of the tracker tables; null for the tables. */
  shards: TrackerShards | null;
  /** The datasets that have rows; the others need not be read. */
  datasets: ReadonlySet<ExportDatasetName>;
  /** Whether no row can have a time that cannot be written. */
  isTimeChecked: boolean;
}

/** A snapshot, and the projects that can be read from it. */
interface Opened {
  snapshot: ExportSnapshot;
  shards: TrackerShards | null;
  openedAt: number;
  /** Those that were not deleted when it was opened. */
  projects: ReadonlyMap<string, ReadonlySet<ExportDatasetName>>;
  isTimeChecked: boolean;
}

/**
 * Opens the snapshots of one build, one at a time. They show everything committed before the build began: thousands of small
 * projects need one position of the primary. Later attempts read from the primary only, so that no build fails again and
 * again because of the replica.
 */
export class BuildSnapshots {
  readonly #databases: SourceDatabases;
  readonly #build: Build;
  readonly #replica: Replica | null;
  #position: WalPosition | null = null;
  #opened: Opened | null = null;

  constructor(databases: SourceDatabases, build: Build) {
    this.#databases = databases;
    this.#build = build;
    this.#replica = build.job.attempt === 1 && build.job.faults === 0 ? databases.replica : null;
  }

  /**
   * Returns the source of a project, valid until the next call; null if the project was deleted. Throws
   * ChangeLogDeletedError if the job waited until the changes of its increment were deleted.
   */
  async sourceOf(projectId: string): Promise<ProjectSource | null> {
    const isShared =
      this.#opened?.projects.has(projectId) && performance.now() - this.#opened.openedAt < SHARED_MS;
    const opened = isShared && this.#opened ? this.#opened : await this.#reopen(projectId);
    const { snapshot, shards, isTimeChecked } = opened;
    const datasets = opened.projects.get(projectId);
    return datasets ? { snapshot, shards, datasets, isTimeChecked } : null;
  }

  async close(): Promise<void> {
    await this.#opened?.snapshot.close();
    this.#opened = null;
  }

  async #reopen(projectId: string): Promise<Opened> {
    await this.close();
    const opened = await this.#open(projectId);
    const { since } = this.#build.job;
    try {
      if (since !== null) await opened.snapshot.run((tx) => requireChangeLog(tx, since));
      const projects = await this.#findProjects(projectId, opened);
      const { trackerSchema } = this.#databases.config;
      const source = { trackerSchema, shards: opened.shards };
      const isTimeChecked = await opened.snapshot.run((tx) => areTimesChecked(tx, source));
      await opened.snapshot.run(preferParallelCopies);
      this.#opened = { ...opened, projects, isTimeChecked, openedAt: performance.now() };
      return this.#opened;
    } catch (error) {
      await opened.snapshot.close();
      throw error;
    }
  }

  async #open(projectId: string): Promise<Pick<Opened, "snapshot" | "shards">> {
    const replica = this.#replica;
    const { job, signal } = this.#build;
    const source = await openSource(
      { ...this.#databases, replica },
      {
        projectId,
        signal,
        // It was settled when the job was queued.
        settle: async () => job.asOf,
        readPosition: async () => (this.#position ??= (await replica?.readPosition()) ?? null),
      },
    );
    // After a failover the position is meaningless.
    if (source.replica === null) this.#position = null;
    return source;
  }

  /** Finds the project and, except on a node, its neighbors. */
  async #findProjects(
    projectId: string,
    { snapshot, shards }: Pick<Opened, "snapshot" | "shards">,
  ): Promise<Opened["projects"]> {
    const { config, sql } = this.#databases;
    const { job, projectIds } = this.#build;
    const first = projectIds.indexOf(projectId);
    const neighbors = projectIds.slice(first, first + (shards ? 1 : NEIGHBORS));
    // From the primary: the replica may not have replayed a deletion.
    const live = new Set((await listLiveProjects(sql, job.orgId)).map(({ id }) => id));
    const { trackerSchema } = config;
    const wanted = { trackerSchema, shards, projectIds: neighbors.filter((id) => live.has(id)) };
    return snapshot.run((tx) => findPopulatedDatasets(tx, wanted));
  }
}
