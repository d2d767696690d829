/** Job `build_org_export`: builds the ZIP of an organization and records the outcome in the job's row. */
import { ArtifactStorageError, type ArtifactStore } from "../shared/artifacts/store.ts";
import { exportFileStamp } from "../shared/exports/file_names.ts";
import type { JobPayloads } from "../shared/jobs.ts";
import type { Config } from "../shared/process/config.ts";
import type { Log } from "../shared/process/log.ts";
import { withTimeout } from "../shared/process/with_timeout.ts";
import type { ExportJobErrorCode } from "../shared/vocabulary.ts";
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import { findOrgById, type OrgRow } from "../sql/accounts/orgs.ts";
import type { Nodes } from "../sql/connection/nodes.ts";
import { isConnectionError, type Pool, type Sql } from "../sql/connection/pool.ts";
import type { Replica } from "../sql/connection/replica.ts";
import { retryOnDisconnect } from "../sql/connection/retry_on_disconnect.ts";
import { insertExportEvent } from "../sql/events/events.ts";
import {
  markExportJobExhausted,
  markExportJobFailed,
  markExportJobQueued,
  markExportJobReady,
  markExportJobRunning,
} from "../sql/exports/build_attempts.ts";
import type { ExportJobRow } from "../sql/exports/jobs.ts";
import { type Boss, completeJob, enqueueJob } from "../sql/queue.ts";
import { artifactKeyOf } from "./artifact_key.ts";
import { BuildSuperseded } from "./build_progress.ts";
import { writeOrgExport } from "./org_export_file.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import { ForeignStoreError, type StoreOwner } from "./store_owner.ts";

/** After this many failed attempts the job is `BUILD_FAILED`. */
const MAX_ATTEMPTS = 3;
/** A silent storage must not delay the next attempt. */
const DISCARD_TIMEOUT_MS = 1000;
/** Longer than the mail server may take to respond (jobs/mail.ts). */
const MAIL_EXPIRE_SECONDS = 3600;

const MESSAGES: Readonly<Record<Exclude<ExportJobErrorCode, "CANCELED">, string>> = {
  BUILD_TIMEOUT:
    "The build took too long. Export again; if it happens again, ask the operator to raise EXPORT_BUILD_TIMEOUT_MINUTES",
  BUILD_FAILED: `The build failed ${MAX_ATTEMPTS} times. Export again`,
  ARTIFACT_STORAGE_FAILED: `The file could not be stored in ${MAX_ATTEMPTS} attempts. Ask the operator to check the artifact storage, then export again`,
  ORGANIZATION_GONE: "The organization was deleted",
};

export interface BuildDeps {
  config: Config;
  sql: Pool;
  /** For the snapshots: one connection per build. */
  exportSql: Pool;
  /** Preferred for snapshots; null without a replica. */
  replica: Replica | null;
  /** Where snapshots are opened if the tracker tables are distributed. */
  nodes: Nodes;
  boss: Boss;
  store: ArtifactStore;
  owner: StoreOwner;
  log: Log;
  metrics: RunnerMetrics;
  /** Aborted when the process can no longer wait for the build. */
  shutdownSignal: AbortSignal;
}

/**
 * Builds the export. Safe to run concurrently: only the latest attempt can write to the row. `claim` is aborted if the
 * queue considers the job lost. Throws if the queue should run it again.
 */
export async function buildOrgExport(
  deps: BuildDeps,
  { exportJobId, traceparent }: JobPayloads["build_org_export"],
  claim: AbortSignal,
): Promise<void> {
  const job = await markExportJobRunning(deps.sql, { id: exportJobId, maxAttempts: MAX_ATTEMPTS });
  if (!job) return failExhausted(deps, exportJobId);
  const build: Build = {
    job,
    // Unique per build, even for the same attempt number, so garbage stays garbage.
    artifactKey: artifactKeyOf({ ...job, buildId: crypto.randomUUID() }),
    traceparent,
    log: deps.log.child({ exportJobId, attempt: job.attempt }),
  };
  const timeout = AbortSignal.timeout(deps.config.exportBuildTimeoutMinutes * 60_000);
  try {
    const org = await findOrgById(deps.sql, job.orgId);
    if (!org) return await fail(deps, build, "ORGANIZATION_GONE");
    await run(deps, build, { org, signal: AbortSignal.any([claim, timeout, deps.shutdownSignal]) });
  } catch (error) {
    const isSuperseded = error instanceof BuildSuperseded;
    if (isSuperseded) await discard(deps, build);
    if (isSuperseded || claim.aborted) {
      const message = "a build stopped: its job was canceled or taken over by another builder";
      build.log.warn({ event: "export_job.superseded", err: error }, message);
      // The queue accepts this only from the worker that holds the entry.
      throw error;
    }
    if (timeout.aborted) return await fail(deps, build, "BUILD_TIMEOUT");
    await handOn(deps, build, error);
  }
}

/** One attempt. */
interface Build {
  job: ExportJobRow;
  artifactKey: string;
  traceparent: string | undefined;
  log: Log;
}

async function run(
  deps: BuildDeps,
  build: Build,
  { org, signal }: { org: OrgRow; signal: AbortSignal },
): Promise<void> {
  const { job, artifactKey, log } = build;
  const startedAt = performance.now();
  await deps.owner.require();
  const { artifact, progress } = await writeOrgExport(deps, { job, org, signal, artifactKey });
  // Another database may have claimed the store since.
  await deps.owner.require();
  const ready = await deps.sql.begin(async (tx) => {
    const row = await markExportJobReady(tx, {
      id: job.id,
      attempt: job.attempt,
      progress,
      artifact: {
        key: artifactKey,
        fileName: `${org.slug}-export-${exportFileStamp(job.asOf)}.zip`,
        ...artifact,
      },
      retentionHours: deps.config.exportRetentionHours,
    });
    if (!row) return null;
    await finish(tx, deps, row, "export_job.ready");
    await enqueueJob(tx, deps.boss, {
      id: job.id,
      name: "send_export_ready",
      payload: { exportJobId: job.id, traceparent: build.traceparent },
      expireSeconds: MAIL_EXPIRE_SECONDS,
    });
    return row;
  });
  if (!ready) throw new BuildSuperseded(job);
  deps.metrics.builds.inc({ result: "ready" });
  const tookMs = Math.round(performance.now() - startedAt);
  log.info({ event: "export_job.ready", ...progress, tookMs }, "an organization export is ready");
}

/** Completes the queue entry and writes the event and the audit entry, in the transaction that ends the job. */
async function finish(tx: Sql, deps: BuildDeps, job: ExportJobRow, action: string): Promise<void> {
  await completeJob(tx, deps.boss, { id: job.id, name: "build_org_export" });
  await insertExportEvent(tx, job);
  await insertAuditEntry(tx, {
    actorType: "service",
    action,
    subjectType: "export_job",
    subjectId: job.id,
    orgId: job.orgId,
    details: job.errorCode === null ? { rows: job.rowsWritten } : { errorCode: job.errorCode },
  });
}

/**
 * Requeues a failed build and rethrows, or fails the job if no attempt is left. An attempt does not count if this
 * process had to stop, the database was restarted, or another database owns the store. Restarts are forgiven only for a
 * while.
 */
async function handOn(deps: BuildDeps, build: Build, error: unknown): Promise<void> {
  const { job, log } = build;
  const isForgiven = deps.shutdownSignal.aborted || error instanceof ForeignStoreError;
  const event = isForgiven ? "export_job.cut_off" : "export_job.attempt_failed";
  log.warn({ event, err: error }, "a build attempt of an organization export failed");
  if (!isForgiven && !isConnectionError(error) && job.attempt >= MAX_ATTEMPTS) {
    const isStorage = error instanceof ArtifactStorageError;
    await fail(deps, build, isStorage ? "ARTIFACT_STORAGE_FAILED" : "BUILD_FAILED");
    return;
  }
  deps.metrics.buildRetries.inc();
  const { id, attempt } = job;
  const forgivenMinutes = MAX_ATTEMPTS * deps.config.exportBuildTimeoutMinutes;
  const isQueued = await retryOnDisconnect(
    () => markExportJobQueued(deps.sql, { id, attempt, isForgiven, forgivenMinutes }),
    deps.shutdownSignal,
  );
  if (isQueued) await discard(deps, build);
  throw error;
}

async function fail(
  deps: BuildDeps,
  build: Build,
  errorCode: Exclude<ExportJobErrorCode, "CANCELED">,
): Promise<void> {
  const { job } = build;
  const failed = await deps.sql.begin(async (tx) => {
    const row = await markExportJobFailed(tx, {
      id: job.id,
      attempt: job.attempt,
      errorCode,
      errorMessage: MESSAGES[errorCode],
    });
    if (row) await finish(tx, deps, row, "export_job.fail");
    return row;
  });
  if (!failed) return;
  deps.metrics.builds.inc({ result: errorCode });
  await discard(deps, build);
  build.log.error({ event: "export_job.failed", errorCode }, "an export job failed");
}

/**
 * Deletes the file if it exists. Call it only when the row no longer belongs to this attempt: if the connection is lost
 * while the job is made ready, the job may be ready. The sweep deletes what is left.
 */
async function discard(deps: BuildDeps, { artifactKey, log }: Build): Promise<void> {
  try {
    await withTimeout(deps.store.remove(artifactKey), DISCARD_TIMEOUT_MS);
  } catch (error) {
    log.warn({ event: "artifact.delete_failed", err: error }, "cannot delete the file of a failed build");
  }
}

/** Fails a job whose builders have all died. Does nothing for a job that has finished. */
async function failExhausted(deps: BuildDeps, id: string): Promise<void> {
  const isFailed = await deps.sql.begin(async (tx) => {
    const failed = await markExportJobExhausted(tx, {
      id,
      maxAttempts: MAX_ATTEMPTS,
      errorMessage: MESSAGES.BUILD_FAILED,
    });
    if (failed) await finish(tx, deps, failed, "export_job.fail");
    return failed !== null;
  });
  if (isFailed) deps.metrics.builds.inc({ result: "BUILD_FAILED" });
}
