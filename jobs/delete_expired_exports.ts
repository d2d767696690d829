/**
 * Job `expire_org_exports`: deletes the files of expired exports and of dead builds. Sweeps can run concurrently. If one is
 * killed, the next sweep continues its work. sql/exports/export_expiry.ts decides which exports have expired.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { StoredFile } from "../shared/artifacts/store.ts";
import type { Config } from "../shared/process/config.ts";
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import {
  type ArtifactOwnerRow,
  type ExpiredExportRow,
  type ExpiryKey,
  listArtifactOwners,
  listPastExpiry,
  markExportJobExpired,
} from "../sql/exports/export_expiry.ts";
import { type BuildKey, parseArtifactName } from "./artifact_key.ts";
import type { RunnerDeps } from "./runner_deps.ts";

/** Rows or files per batch. */
const BATCH = 200;
/**
 * How long a file outlives its export. A download that is accepted just before the expiry opens the file only after the
 * server has created the response.
 */
const OPENING_MS = 2000;

/**
 * Added to the retention of files whose job has no row. If this database was restored to a time before the job, the original
 * database may still serve the file until the file expires.
 */
const UNKNOWN_MARGIN_HOURS = 24;
const HOUR_MS = 3_600_000;

type SweepDeps = Pick<RunnerDeps, "sql" | "store" | "owner" | "log"> & {
  config: Pick<Config, "exportRetentionHours">;
};

/**
 * Sweeps once, if the store belongs to this database. Logs failed deletions, which the next sweep retries. `signal` stops the
 * sweep between two files.
 */
export async function deleteExpiredExports(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  if (!(await deps.owner.isOurs())) return;
  const expired = await expirePastExpiry(deps, signal);
  const abandoned = await deleteAbandoned(deps, signal);
  const level = expired + abandoned > 0 ? "info" : "debug";
  deps.log[level]({ event: "export_sweep.done", expired, abandoned }, "swept organization exports");
}

/** Expires the exports that are past their expiry and returns their number. */
async function expirePastExpiry(deps: SweepDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  let after: ExpiryKey | null = null;
  while (true) {
    const rows: readonly ExpiredExportRow[] = await listPastExpiry(deps.sql, { after, limit: BATCH });
    const youngestMs = Math.min(...rows.map(({ ageMs }) => ageMs));
    if (youngestMs < OPENING_MS) await delay(OPENING_MS - youngestMs, undefined, { signal });
    for (const row of rows) {
      signal.throwIfAborted();
      if (await expire(deps, row)) count += 1;
    }
    after = rows.at(-1) ?? null;
    if (rows.length < BATCH) return count;
  }
}

/** Deletes the file first, so that an `expired` row never has a file. Open downloads continue. */
async function expire(
  deps: SweepDeps,
  { id, orgId, artifactKey, expiresAt }: ExpiredExportRow,
): Promise<boolean> {
  if (!(await deleteFile(deps, artifactKey))) return false;
  return deps.sql.begin(async (tx) => {
    if (!(await markExportJobExpired(tx, id))) return false;
    await insertAuditEntry(tx, {
      actorType: "service",
      action: "export_job.expire",
      subject: { type: "export_job", id },
      orgId,
      details: { expiresAt },
    });
    return true;
  });
}

/** Deletes the files of dead builds and returns their number. */
async function deleteAbandoned(deps: SweepDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  let batch: BuildFile[] = [];
  for await (const { name, modifiedAt } of deps.store.list()) {
    const build = parseArtifactName(name);
    if (!build) continue;
    batch.push({ name, build, modifiedAt });
    if (batch.length < BATCH) continue;
    count += await deleteUnowned(deps, batch, signal);
    batch = [];
  }
  return count + (await deleteUnowned(deps, batch, signal));
}

interface BuildFile extends Pick<StoredFile, "name" | "modifiedAt"> {
  build: BuildKey;
}

/**
 * Deletes files that no job needs. The rows are read after the files are listed. A build writes its attempt to the row before
 * it creates a file, and keys are unique per build. If the row has another attempt now, it never returns to the file's
 * attempt, and the file's build can only stop.
 */
async function deleteUnowned(
  deps: SweepDeps,
  files: readonly BuildFile[],
  signal: AbortSignal,
): Promise<number> {
  if (files.length === 0) return 0;
  const owners = await listArtifactOwners(
    deps.sql,
    files.map(({ build }) => build.id),
  );
  const byId = new Map(owners.map((owner) => [owner.id, owner]));
  const unknownUntil = Date.now() - (deps.config.exportRetentionHours + UNKNOWN_MARGIN_HOURS) * HOUR_MS;
  let count = 0;
  for (const { name, build, modifiedAt } of files) {
    signal.throwIfAborted();
    const job = byId.get(build.id);
    if (job ? isNeeded(name, build, job) : modifiedAt.getTime() > unknownUntil) continue;
    if (await deleteFile(deps, name)) count += 1;
  }
  return count;
}

function isNeeded(name: string, build: BuildKey, job: ArtifactOwnerRow): boolean {
  if (job.status === "running") return job.attempt === build.attempt;
  // `expirePastExpiry` deletes the files of expired exports.
  return job.status === "ready" && job.artifactKey === name;
}

async function deleteFile({ store, log }: SweepDeps, name: string): Promise<boolean> {
  try {
    await store.remove(name);
    return true;
  } catch (error) {
    log.warn({ event: "artifact.delete_failed", name, err: error }, "cannot delete an artifact");
    return false;
  }
}
