/** GET /export/jobs/{job_id}/download: the finished file, or the rest of an interrupted download. */
import { Elysia, t } from "elysia";
import { ArtifactStorageError, type ByteRange } from "../../shared/artifacts/store.ts";
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/exports/file_names.ts";
import { type ExportFacts, isPersonalCredential } from "../../shared/policy.ts";
import type { Log } from "../../shared/process/log.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { ReadableExportJobRow } from "../../sql/exports/jobs.ts";
import type { OperationDeps } from "../deps.ts";
import { access } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { formatDigest } from "../http/response/repr_digest.ts";
import { chooseRange } from "./byte_range.ts";
import { requireExportJob } from "./export_job.ts";
import { requireExportSlot, takeExportSlot } from "./export_slots.ts";
import { followDownload } from "./follow_download.ts";
import { DOWNLOAD_DETAIL } from "./job_openapi.ts";
import { mayContinue } from "./may_continue.ts";

/** Retry-After while a build is running. */
const RETRY_SECONDS = 10;
/** Retry-After when the storage fails: long enough for a failover. */
const STORAGE_RETRY_SECONDS = 30;

const Params = t.Object({ job_id: t.String() });

interface Artifact {
  key: string;
  fileName: string;
  bytes: number;
  sha256: string;
}

/** Any member may download, with a session or a key of kind `user`. */
export function jobDownloadRoutes(deps: OperationDeps) {
  return new Elysia().use(access).get(
    "/export/jobs/:job_id/download",
    async ({ params, request, caller }) => {
      const findJob = () => findReadableJob(deps.sql, { caller, request, jobId: params.job_id });
      const find = async () => {
        const job = await findJob();
        return { job, artifact: requireArtifact(job) };
      };
      const { job, artifact } = await find();
      const context = requestContext(request);
      const range = requireRange(request.headers, context.method, artifact);
      const { first, last } = range ?? { first: 0, last: artifact.bytes - 1 };
      const bytes = last + 1 - first;
      const headers = { ...fileHeaders(job, artifact), "Content-Length": String(bytes) };
      const isOver = () => !context.connection.isOpen();
      // Never released: it ends when the response is sent.
      const claim = { holder: caller.userId, group: job.orgId, isOver };
      if (context.method === "HEAD") {
        requireExportSlot(deps.exports.slots, "downloads", claim);
        const isThere = await orUnavailable(deps.exports.store.exists(artifact.key));
        if (!isThere) throw await goneOrLost(deps.log, find);
        return new Response(null, { headers });
      }
      const permit = takeExportSlot(deps.exports.slots, "downloads", claim);
      const file = await readArtifact(deps, { request, artifact, range, isOver });
      if (file === "unwanted") return new Response(null);
      if (!file) throw await goneOrLost(deps.log, find);
      const contentRange = range && `bytes ${first}-${last}/${artifact.bytes}`;
      await noteDownload(deps.sql, { request, caller, job, range: contentRange });
      const watch = {
        rules: deps.exports.streamRules,
        permit,
        mayContinue: () => mayContinue(deps, caller, findJob),
      };
      followDownload({ metrics: deps.exports.metrics, log: deps.log }, { request, watch, job, bytes });
      return new Response(file, {
        status: range ? 206 : 200,
        headers: { ...headers, ...(contentRange ? { "Content-Range": contentRange } : {}) },
      });
    },
    { access: "caller", params: Params, detail: DOWNLOAD_DETAIL },
  );
}

/** Adds the audit entry before the first byte is sent. The log says how the download ended. */
async function noteDownload(
  sql: Sql,
  given: { request: Request; caller: Caller; job: ReadableExportJobRow; range: string | null },
): Promise<void> {
  const { request, caller, job, range } = given;
  await insertAuditEntry(sql, {
    ...auditActor(request, caller),
    action: "export_job.download",
    subjectType: "export_job",
    subjectId: job.id,
    orgId: job.orgId,
    details: { range },
  });
  Object.assign(requestContext(request).fields, { exportJobId: job.id, asOf: job.asOf, format: job.format });
}

/** Returns the job if the caller may download it. */
function findReadableJob(
  sql: Sql,
  given: { caller: Caller; request: Request; jobId: string },
): Promise<ReadableExportJobRow> {
  const policy = ({ credential }: Pick<ExportFacts, "credential">) => isPersonalCredential(credential);
  return requireExportJob(sql, { ...given, policy });
}

/**
 * Returns the file, which the store may have to fetch first; null if it does not exist, `unwanted` if the client has
 * disconnected.
 */
async function readArtifact(
  deps: OperationDeps,
  given: { request: Request; artifact: Artifact; range: ByteRange | null; isOver: () => boolean },
): Promise<Blob | null | "unwanted"> {
  const { request, artifact, range, isOver } = given;
  const { signal } = request;
  try {
    const options = { bytes: artifact.bytes, signal, isOver, ...(range ? { range } : {}) };
    return await orUnavailable(deps.exports.store.read(artifact.key, options));
  } catch (error) {
    if (!signal.aborted) throw error;
    announceStream(request)({ outcome: "aborted", bytes: 0 });
    return "unwanted";
  }
}

/** Returns the file of a ready job. Throws if the job has no file. */
function requireArtifact(job: ReadableExportJobRow): Artifact {
  const { status, artifactKey: key, artifactFileName: fileName, artifactBytes: bytes } = job;
  if (status === "queued" || status === "running") {
    throw new ApiError("EXPORT_NOT_READY", {
      details: { status },
      headers: { "Retry-After": String(RETRY_SECONDS) },
    });
  }
  if (status === "failed") throw new ApiError("EXPORT_JOB_FAILED", { details: { errorCode: job.errorCode } });
  if (status === "expired" || job.isPastExpiry) {
    throw new ApiError("EXPORT_EXPIRED", { details: { expiresAt: job.expiresAt } });
  }
  const { artifactSha256: sha256 } = job;
  if (key === null || fileName === null || bytes === null || sha256 === null) {
    throw new Error(`Cannot download export job "${job.id}": it is ready without an artifact`);
  }
  return { key, fileName, bytes, sha256 };
}

/** Returns the requested range; null for the whole file. Throws if it begins after the end. */
function requireRange(headers: Headers, method: string, { bytes, sha256 }: Artifact): ByteRange | null {
  // Ranges are not defined for HEAD (RFC 9110).
  const range = method === "GET" ? chooseRange(headers, { bytes, etag: `"${sha256}"` }) : "all";
  if (range === "unsatisfiable") {
    throw new ApiError("RANGE_NOT_SATISFIABLE", {
      details: { bytes },
      headers: { "Content-Range": `bytes */${bytes}`, "Accept-Ranges": "bytes" },
    });
  }
  return range === "all" ? null : range;
}

/** Returns the error for a storage that fails. */
async function orUnavailable<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (cause) {
    if (!(cause instanceof ArtifactStorageError)) throw cause;
    throw new ApiError("SERVICE_UNAVAILABLE", {
      headers: { "Retry-After": String(STORAGE_RETRY_SECONDS) },
      cause,
    });
  }
}

/**
 * Returns the error for a missing file. If the sweep has just deleted it, the row now says so. Otherwise a retry is
 * useless, and the operator must know.
 */
async function goneOrLost(log: Log, find: () => Promise<{ job: ReadableExportJobRow }>): Promise<ApiError> {
  const { job } = await find();
  log.error({ event: "export_job.lost", exportJobId: job.id }, "the file of a ready export job is missing");
  return new ApiError("EXPORT_EXPIRED", {
    message: "The file of this export is missing from the storage. Queue a new export",
    details: { expiresAt: job.expiresAt },
  });
}

function fileHeaders(job: ReadableExportJobRow, artifact: Artifact): Record<string, string> {
  const { fileName, sha256 } = artifact;
  return {
    "Content-Type": "application/zip",
    "Content-Disposition": contentDisposition({ ascii: fileName, full: fileName }),
    "Cache-Control": "no-store",
    "X-Export-As-Of": job.asOf,
    "X-Export-Next-Since": job.asOf,
    "X-Export-Total-Rows": String(job.rowsWritten),
    "Accept-Ranges": "bytes",
    ETag: `"${sha256}"`,
    "Repr-Digest": formatDigest(Buffer.from(sha256, "hex")),
  };
}
