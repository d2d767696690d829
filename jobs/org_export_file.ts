/** Writes the file of an organization export: one project after another into a ZIP in the artifact store. */
import type { ContentDigest } from "../shared/artifacts/store.ts";
import { NO_FILTERS, visibilityOf } from "../shared/exports/datasets.ts";
import { sanitizeProjectName } from "../shared/exports/file_names.ts";
import { gatherChunks } from "../shared/exports/gather_chunks.ts";
import {
  type ManifestProject,
  organizationManifest,
  type ProjectContents,
} from "../shared/exports/manifest.ts";
import { organizationReadme, schemaFile } from "../shared/exports/readme.ts";
import { streamZip, textEntry, type ZipEntry } from "../shared/exports/zip_stream.ts";
import { pause, untilAborted } from "../shared/process/with_timeout.ts";
import type { OrgRow } from "../sql/accounts/orgs.ts";
import { findProjectById, listLiveProjects } from "../sql/accounts/projects.ts";
import type { Sql } from "../sql/connection/pool.ts";
import type { WalPosition } from "../sql/connection/replica.ts";
import { preferParallelCopies } from "../sql/connection/snapshot.ts";
import { type ExportBuildKey, updateExportJobProgress } from "../sql/exports/build_attempts.ts";
import type { RowMeter } from "../sql/exports/copy_rows.ts";
import type { ExportJobProgress, ExportJobRow } from "../sql/exports/jobs.ts";
import { type ExportSource, openSource } from "../sql/exports/open_source.ts";
import { projectEntries } from "../sql/exports/project_entries.ts";
import { requireRightTimes } from "../sql/exports/select_rows.ts";
import { requireChangeLog } from "../sql/exports/tracker_changes.ts";
import { readAhead } from "./read_ahead.ts";
import type { RunnerDeps } from "./runner_deps.ts";
import { writeArtifact } from "./write_artifact.ts";

interface OrgExport {
  job: ExportJobRow;
  org: OrgRow;
  signal: AbortSignal;
}

interface Project {
  id: string;
  name: string;
}

/**
 * Writes the file and reports its progress. Calls `prepareStore` first. Throws BuildSuperseded if the job is canceled or if
 * another builder takes it over, even while `prepareStore` waits for the store.
 */
export async function writeOrgExport(
  deps: RunnerDeps,
  options: OrgExport & { artifactKey: string; prepareStore: (stopped: AbortSignal) => Promise<void> },
): Promise<{ artifact: ContentDigest; progress: ExportJobProgress }> {
  const { job, signal, artifactKey, prepareStore } = options;
  const { rows: projects } = await listLiveProjects(deps.sql, { orgId: job.orgId });
  const meter: RowMeter = { rows: 0 };
  const done = { projects: 0, leftOut: 0, bytes: 0 };
  const progress = (): ExportJobProgress => ({
    projectsDone: done.projects,
    projectsTotal: projects.length - done.leftOut,
    rowsWritten: meter.rows,
    bytesWritten: done.bytes,
  });
  async function* counted(cutOff: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const entries = orgEntries(deps, { ...options, signal: cutOff, projects, meter, done });
    for await (const chunk of streamZip(readAhead(entries), { modifiedAt: job.asOf })) {
      cutOff.throwIfAborted();
      done.bytes += chunk.length;
      yield chunk;
    }
  }
  // Small projects yield many small chunks. Writing each chunk separately took a fifth of the build time.
  const open = (cutOff: AbortSignal) => gatherChunks(counted(cutOff));
  using reports = startProgressReports(deps.sql, job, progress);
  try {
    const stopped = AbortSignal.any([signal, reports.signal]);
    await untilAborted(prepareStore(stopped), stopped);
    const artifact = await writeArtifact(deps.store, { key: artifactKey, signal: stopped, open });
    return { artifact, progress: progress() };
  } catch (error) {
    // The reason of this signal is more specific than the errors of the canceled queries.
    reports.signal.throwIfAborted();
    throw error;
  }
}

/** Yields the files of every project, then the readme, the schema and the manifest. */
async function* orgEntries(
  deps: RunnerDeps,
  options: OrgExport & {
    projects: readonly Project[];
    meter: RowMeter;
    /** The numbers of written and omitted projects. The mail says "of 9 projects", so the file must contain nine. */
    done: { projects: number; leftOut: number };
  },
): AsyncGenerator<ZipEntry, void, void> {
  const { job, org, projects, meter, done } = options;
  const directories = nameDirectories(projects);
  const openProject = projectOpener(deps, options);
  const written: ManifestProject[] = [];
  for (const { id, name } of projects) {
    options.signal.throwIfAborted();
    const source = await openProject(id);
    if (!source) {
      done.leftOut += 1;
      continue;
    }
    const contents: ProjectContents = { files: {}, deleted: null };
    const directory = directories.get(id) ?? id;
    try {
      yield* projectPart(deps, { job, projectId: id, source, directory, contents, meter });
    } finally {
      await source.snapshot.close();
    }
    written.push({ directory, project: { id, name }, ...contents });
    done.projects += 1;
  }
  const contents = {
    asOf: job.asOf,
    since: job.since,
    format: job.format,
    organization: { id: org.id, slug: org.slug, name: org.name },
    visibility: visibilityOf(job),
  };
  yield textEntry("README.md", organizationReadme({ ...contents, projects: written.length }));
  yield textEntry("schema.json", schemaFile());
  const manifest = organizationManifest({ ...contents, projects: written });
  yield { name: "manifest.json", content: manifest };
}

/**
 * Returns a function that opens the snapshot of a project, or returns null if the project was deleted. Only a first attempt
 * reads from the replica, so that a broken replica cannot fail every attempt.
 */
function projectOpener(
  deps: RunnerDeps,
  { job, signal }: OrgExport,
): (projectId: string) => Promise<ExportSource | null> {
  const replica = job.attempt === 1 && job.faults === 0 ? deps.replica : null;
  let position: WalPosition | null = null;
  return async (projectId) => {
    // The primary decides, because the replica may not have replayed a deletion.
    const project = await findProjectById(deps.sql, projectId);
    if (project?.deletedAt !== null) return null;
    const source = await openSource(
      { ...deps, replica },
      {
        projectId,
        signal,
        // The cutoff was settled when the job was queued.
        settle: async () => job.asOf,
        // The rows of all projects were committed before the build began, so the build waits for the replica only once.
        readPosition: async () => (position ??= (await replica?.readPosition()) ?? null),
      },
    );
    // After a failover, the WAL position is meaningless.
    if (source.replica === null) position = null;
    return source;
  };
}

async function* projectPart(
  { config }: RunnerDeps,
  options: {
    job: ExportJobRow;
    projectId: string;
    source: ExportSource;
    directory: string;
    contents: ProjectContents;
    meter: RowMeter;
  },
): AsyncGenerator<ZipEntry, void, void> {
  const { job, projectId, source, directory, contents, meter } = options;
  const { snapshot, shards } = source;
  const { asOf, since } = job;
  const selection = {
    trackerSchema: config.trackerSchema,
    shards,
    projectId,
    asOf,
    since,
    visibility: visibilityOf(job),
    filters: NO_FILTERS,
  };
  if (since !== null) await snapshot.run((tx) => requireChangeLog(tx, since));
  await snapshot.run((tx) => requireRightTimes(tx, selection));
  await snapshot.run(preferParallelCopies);
  yield* projectEntries(snapshot, contents, { selection, format: job.format, directory, meter });
}

const SHORT_ID_LENGTH = 8;

/**
 * Returns the directory of each project by the project's id: `{sanitizedProjectName}__{first8OfProjectId}`. If two
 * directories are equal except for case, both get the full id.
 */
export function nameDirectories(projects: readonly Project[]): ReadonlyMap<string, string> {
  const named = projects.map(({ id, name }) => {
    const stem = sanitizeProjectName(name);
    return { id, stem, short: `${stem}__${id.slice(0, SHORT_ID_LENGTH)}` };
  });
  const alike = Map.groupBy(named, ({ short }) => short.toLowerCase());
  const isUnique = (short: string): boolean => alike.get(short.toLowerCase())?.length === 1;
  return new Map(named.map(({ id, stem, short }) => [id, isUnique(short) ? short : `${stem}__${id}`]));
}

const INTERVAL_MS = 1000;

/** The job's row no longer belongs to this attempt: the job was canceled, or another builder has taken over. */
export class BuildSuperseded extends Error {
  override readonly name = "BuildSuperseded";

  constructor({ id, attempt }: ExportBuildKey) {
    super(`Cannot go on building export job "${id}": attempt ${attempt} is not the running one`);
  }
}

/**
 * Writes the result of `readProgress` to the job's row, now and every second until disposal. Aborts the signal with
 * BuildSuperseded if this attempt is no longer running, or with the error of a failed report.
 */
function startProgressReports(
  sql: Sql,
  { id, attempt }: ExportBuildKey,
  readProgress: () => ExportJobProgress,
): Disposable & { signal: AbortSignal } {
  const stopped = new AbortController();
  const failed = new AbortController();
  async function report(): Promise<void> {
    while (!stopped.signal.aborted) {
      const isRunning = await updateExportJobProgress(sql, { id, attempt, progress: readProgress() });
      if (!isRunning) throw new BuildSuperseded({ id, attempt });
      await pause(INTERVAL_MS, stopped.signal);
    }
  }
  // A report may still be running after disposal. It changes the row only if the attempt is still running.
  report().catch((error: unknown) => {
    if (!stopped.signal.aborted) failed.abort(error);
  });
  return { signal: failed.signal, [Symbol.dispose]: () => stopped.abort() };
}
