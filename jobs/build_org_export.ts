/** Job `build_org_export`: builds the ZIP of an organization and records the outcome in the job's row. */
import { ArtifactTooLargeError } from "../shared/artifacts/store.ts";
import type { JobPayloads } from "../shared/background_jobs.ts";
import { findOrgById, type OrgRow } from "../sql/accounts/orgs.ts";
import { takeOverBuild } from "../sql/exports/build_attempts.ts";
import { WrongTimeError } from "../sql/exports/select_rows.ts";
import { ChangeLogDeletedError } from "../sql/exports/tracker_changes.ts";
import type { QueueClaim } from "../sql/job_queue.ts";
import { artifactKeyOf } from "./artifact_key.ts";
import {
  type Build,
  discard,
  discardOthers,
  fail,
  failExhausted,
  handOn,
  makeReady,
} from "./build_outcome.ts";
import { BuildSuperseded, writeOrgExport } from "./org_export_file.ts";
import type { RunnerDeps } from "./runner_deps.ts";

/**
 * Builds the export. Concurrent runs are safe, because only the latest attempt can update the row. The claim's signal is
 * aborted if the queue considers the job lost. Throws if the queue should retry the job.
 */
export async function buildOrgExport(
  deps: RunnerDeps,
  { exportJobId, traceparent }: JobPayloads["build_org_export"],
  claim: QueueClaim & { signal: AbortSignal },
): Promise<void> {
  const job = await takeOverBuild(deps.sql, exportJobId);
  if (!job) return failExhausted(deps, exportJobId);
  const build: Build = {
    job,
    // The key is unique per build, even within an attempt. A leftover file therefore never becomes valid again.
    artifactKey: artifactKeyOf({ ...job, buildId: crypto.randomUUID() }),
    claim,
    traceparent,
    log: deps.log.child({ exportJobId, attempt: job.attempt }),
  };
  const timeout = AbortSignal.timeout(deps.config.exportBuildTimeoutMinutes * 60_000);
  try {
    const org = await findOrgById(deps.sql, job.orgId);
    if (!org) return await fail(deps, build, "ORGANIZATION_GONE");
    await run(deps, build, { org, signal: AbortSignal.any([claim.signal, timeout, deps.shutdownSignal]) });
  } catch (error) {
    const isSuperseded = error instanceof BuildSuperseded;
    if (isSuperseded) await discard(deps, build);
    if (isSuperseded || claim.signal.aborted) {
      const message = "a build stopped: its job was canceled or taken over by another builder";
      build.log.warn({ event: "export_job.superseded", err: error }, message);
      // The queue records the failure only if this worker still holds the entry.
      throw error;
    }
    if (timeout.aborted) return await fail(deps, build, "BUILD_TIMEOUT");
    if (isFinal(error)) return await fail(deps, build, "BUILD_FAILED", error.message);
    await handOn(deps, build, error);
  }
}

/** Returns whether another attempt would fail the same way. Callers see the messages of these errors. */
function isFinal(error: unknown): error is Error {
  return [WrongTimeError, ChangeLogDeletedError, ArtifactTooLargeError].some((type) => error instanceof type);
}

async function run(
  deps: RunnerDeps,
  build: Build,
  { org, signal }: { org: OrgRow; signal: AbortSignal },
): Promise<void> {
  const { job, artifactKey, log } = build;
  const startedAt = performance.now();
  const prepareStore = async (stopped: AbortSignal): Promise<void> => {
    await deps.owner.require();
    await discardOthers(deps, build, stopped);
  };
  const { artifact, progress } = await writeOrgExport(deps, { job, org, signal, artifactKey, prepareStore });
  // Another database may have claimed the store during the build.
  await deps.owner.require();
  if (!(await makeReady(deps, build, { org, artifact, progress }))) throw new BuildSuperseded(job);
  const tookMs = Math.round(performance.now() - startedAt);
  log.info({ event: "export_job.ready", ...progress, tookMs }, "an organization export is ready");
}
