/** GET /export/jobs/{job_id}/download: downloads a finished export, or a range of it. */
import { readArtifactOwner } from "../../shared/artifacts/owner.ts";
import { ArtifactStorageError, type ArtifactStore, type ByteRange } from "../../shared/artifacts/store.ts";
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/exports/file_names.ts";
import { type ExportFacts, isPersonalCredential, type Verdict } from "../../shared/policy.ts";
import { Text } from "../../shared/schemas.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { StoredArtifact } from "../../sql/exports/build_attempts.ts";
import type { VisibleExportJobRow } from "../../sql/exports/jobs.ts";
import { requireNewStore } from "../../sql/monitoring/artifact_status.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { type OperationDeps, operation, reply } from "../http/operation.ts";
import { rejectQuery } from "../http/query.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { formatDigest } from "../http/response/repr_digest.ts";
import { JobParams, requireExportJob } from "./export_job.ts";
import { FILE_HEADERS, mayContinue, repeatChecks, SHARE_USED_UP } from "./export_request.ts";
import { followDownload } from "./follow_download.ts";
import { ORGANIZATION_ARCHIVE } from "./manifest_schema.ts";

/** Allows any member to download, with a session or a key of kind `user`. */
function mayDownload({ credential }: Pick<ExportFacts, "credential">): Verdict {
  return isPersonalCredential(credential);
}

export const downloadExportJob = operation(
  {
    id: "downloadExportJob",
    method: "GET",
    path: "/api/v1/export/jobs/{job_id}/download",
    access: "caller",
    tag: "Export",
    summary: "Download an organization export",
    description: "Supports one `Range` with `If-Range`, so that a broken download can be resumed.",
    params: JobParams,
    uncheckedQuery: {},
    requestHeaders: {
      Range: "A range of bytes, such as `bytes=1048576-`",
      "If-Range": "ETag of the file that was partly downloaded",
    },
    response: {
      200: { description: "The archive", files: ORGANIZATION_ARCHIVE },
      206: { description: "The requested range", files: ORGANIZATION_ARCHIVE },
    },
    responseHeaders: {
      ...FILE_HEADERS,
      ETag: { description: "SHA-256 of the file", schema: Text },
      "Repr-Digest": { description: "SHA-256 of the file, as in RFC 9530", schema: Text },
    },
    download: true,
    fails: [
      "EXPORT_JOB_NOT_FOUND",
      "KEY_KIND_FORBIDDEN",
      SHARE_USED_UP,
      "EXPORT_NOT_READY",
      "EXPORT_JOB_FAILED",
      "EXPORT_EXPIRED",
      "RANGE_NOT_SATISFIABLE",
    ],
  },
  async ({ params, request, caller }, deps) => {
    const { downloads, store, streamRules: rules, metrics } = deps.exports;
    const access = { caller, request, jobId: params.job_id, policy: mayDownload };
    const findJob = () => requireExportJob(deps.sql, access);
    const job = await findJob();
    const artifact = requireArtifact(job);
    rejectQuery(request);
    const context = requestContext(request);
    const range = byteRangeOf(request.headers, context.method, artifact);
    const { first, last } = range ?? { first: 0, last: artifact.bytes - 1 };
    const bytes = last + 1 - first;
    const headers = { ...fileHeaders(job, artifact), "Content-Length": String(bytes) };
    const isOver = () => !context.connection.isOpen();
    // `isOver` frees the slot when the response has been sent.
    const claim = { holder: caller.userId, group: job.orgId, isOver };
    if (context.method === "HEAD") {
      downloads.requireFree(claim);
      const isThere = await orUnavailable(store.exists(artifact.key));
      if (!isThere) throw await goneOrLost(deps, findJob);
      return reply(200, null, { headers });
    }
    const permit = downloads.take(claim);
    const file = await readArtifact(store, { request, artifact, range, isOver });
    if (file === "unwanted") return reply(200, null);
    // Reading from a slow bucket may have taken minutes.
    await repeatChecks(deps.sql, caller, findJob);
    if (!file) throw await goneOrLost(deps, findJob);
    const contentRange = range && `bytes ${first}-${last}/${artifact.bytes}`;
    await noteDownload(deps.sql, { request, caller, job, range: contentRange });
    const watch = { rules, permit, mayContinue: () => mayContinue(deps, caller, findJob) };
    followDownload({ metrics, log: deps.log }, { request, watch, job, bytes });
    if (!contentRange) return reply(200, file, { headers });
    return reply(206, file, { headers: { ...headers, "Content-Range": contentRange } });
  },
);

/**
 * Returns the requested range. Returns null for the whole file if there is not exactly one valid range, or if `If-Range` names
 * another file. Throws RANGE_NOT_SATISFIABLE if the range begins after the end of the file.
 */
function byteRangeOf(
  headers: Headers,
  method: string,
  { bytes, sha256 }: { bytes: number; sha256: string },
): ByteRange | null {
  // Ranges are not defined for HEAD (RFC 9110).
  if (method !== "GET") return null;
  const ifRange = headers.get("if-range");
  if (ifRange !== null && ifRange.trim() !== `"${sha256}"`) return null;
  const match = /^bytes *= *(\d*) *- *(\d*)$/i.exec((headers.get("range") ?? "").trim());
  const [, from = "", to = ""] = match ?? [];
  if (from === "" && to === "") return null;
  const end = bytes - 1;
  // Without a start, `to` is the number of bytes at the end of the file.
  const first = from === "" ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === "" || to === "" ? end : Number(to);
  if (to !== "" && from !== "" && last < first) return null;
  if (first > end) {
    throw new ApiError("RANGE_NOT_SATISFIABLE", {
      details: { bytes },
      headers: { "Content-Range": `bytes */${bytes}`, "Accept-Ranges": "bytes" },
    });
  }
  return { first, last: Math.min(last, end) };
}

/** Adds the audit entry before the first byte is sent. The log records the outcome of the download. */
async function noteDownload(
  sql: Sql,
  download: { request: Request; caller: Caller; job: VisibleExportJobRow; range: string | null },
): Promise<void> {
  const { request, caller, job, range } = download;
  await insertAuditEntry(sql, {
    ...auditActor(request, caller),
    action: "export_job.download",
    subject: { type: "export_job", id: job.id },
    orgId: job.orgId,
    details: { range },
  });
  Object.assign(requestContext(request).fields, { exportJobId: job.id, asOf: job.asOf, format: job.format });
}

/** Returns the file, null if it does not exist, or `unwanted` if the client has disconnected. The store may fetch it first. */
async function readArtifact(
  store: ArtifactStore,
  transfer: { request: Request; artifact: StoredArtifact; range: ByteRange | null; isOver: () => boolean },
): Promise<Blob | null | "unwanted"> {
  const { request, artifact, range, isOver } = transfer;
  const { signal } = request;
  try {
    const options = { bytes: artifact.bytes, signal, isOver, ...(range ? { range } : {}) };
    return await orUnavailable(store.read(artifact.key, options));
  } catch (error) {
    if (!signal.aborted) throw error;
    announceStream(request)({ outcome: "aborted", bytes: 0 });
    return "unwanted";
  }
}

/** Returns the file of a ready job. Throws if the job has no file. */
function requireArtifact(job: VisibleExportJobRow): StoredArtifact {
  const { status, artifactKey: key, artifactFileName: fileName, artifactBytes: bytes } = job;
  if (status === "queued" || status === "running") {
    throw new ApiError("EXPORT_NOT_READY", { details: { status } });
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

/** Awaits an operation of the storage. Throws SERVICE_UNAVAILABLE if the storage fails. */
async function orUnavailable<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (cause) {
    if (!(cause instanceof ArtifactStorageError)) throw cause;
    throw new ApiError("SERVICE_UNAVAILABLE", { retryAfter: RETRY_AFTER.storage, cause });
  }
}

/**
 * Returns the error for a missing file. If the sweep has just deleted the file, the job's row records the expiry. If the store
 * has no owner, its volume is not mounted, and a retry can succeed later. Otherwise, a retry cannot succeed, and the operator
 * must be notified.
 */
async function goneOrLost(
  { sql, log, exports: { store } }: OperationDeps,
  findJob: () => Promise<VisibleExportJobRow>,
): Promise<ApiError> {
  const job = await findJob();
  requireArtifact(job);
  if (!(await orUnavailable(readArtifactOwner(store)))) await orUnavailable(requireNewStore(sql));
  log.error({ event: "export_job.lost", exportJobId: job.id }, "the file of a ready export job is missing");
  return new ApiError("EXPORT_EXPIRED", {
    message: TEXTS.EXPORT_EXPIRED.missing,
    details: { expiresAt: job.expiresAt },
  });
}

function fileHeaders(job: VisibleExportJobRow, artifact: StoredArtifact): Record<string, string> {
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
