/** GET /export/jobs/{job_id}/download: the finished file, whole or from where a download broke off. */
import { Elysia, t } from "elysia";
import type { ArtifactStore } from "../../shared/artifacts.ts";
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/file_names.ts";
import { isPersonalCredential } from "../../shared/policy.ts";
import { insertAuditEntry } from "../../sql/audit_log.ts";
import type { ReadableExportJobRow } from "../../sql/export_jobs.ts";
import type { Sql } from "../../sql/pool.ts";
import { access } from "../access.ts";
import { callerAudit } from "../authenticate.ts";
import { requestContext } from "../request_context.ts";
import { chooseRange } from "./byte_range.ts";
import { requireExportJob } from "./export_job.ts";
import { DOWNLOAD_DETAIL } from "./job_openapi.ts";

/** When it is worth asking again whether a build has finished. */
const RETRY_SECONDS = 10;

const Params = t.Object({ job_id: t.String() });

interface Artifact {
  key: string;
  fileName: string;
  bytes: number;
  sha256: string;
}

/** Any member may download, with a personal credential (contract section 4, Jobs). */
export function jobDownloadRoutes(deps: { sql: Sql; store: ArtifactStore }) {
  return new Elysia().use(access).get(
    "/export/jobs/:job_id/download",
    async ({ params, request, caller }) => {
      const job = await requireExportJob(deps.sql, {
        caller,
        jobId: params.job_id,
        policy: ({ credential }) => isPersonalCredential(credential),
      });
      const artifact = requireArtifact(job);
      const file = await deps.store.find(artifact.key);
      if (!file) throw new Error(`Cannot download export job "${job.id}": its file is not in the store`);
      const context = requestContext(request);
      const answer = respond(request.headers, context.method, { job, artifact, file });
      if (context.method === "GET") {
        await insertAuditEntry(deps.sql, {
          ...callerAudit(caller),
          action: "export_job.download",
          subjectType: "export_job",
          subjectId: job.id,
          orgId: job.orgId,
          requestId: context.requestId,
          details: { range: answer.headers.get("content-range") },
        });
      }
      return answer;
    },
    { access: "caller", params: Params, detail: DOWNLOAD_DETAIL },
  );
}

/** The file of a job that is ready; throws what stands in the way. */
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

function respond(
  headers: Headers,
  method: string,
  given: { job: ReadableExportJobRow; artifact: Artifact; file: Blob },
): Response {
  const { artifact, file } = given;
  const { bytes, sha256 } = artifact;
  const etag = `"${sha256}"`;
  // Of HEAD it is not defined (RFC 9110).
  const range = method === "GET" ? chooseRange(headers, { bytes, etag }) : "all";
  if (range === "unsatisfiable") {
    throw new ApiError("RANGE_NOT_SATISFIABLE", {
      details: { bytes },
      headers: { "Content-Range": `bytes */${bytes}`, "Accept-Ranges": "bytes" },
    });
  }
  const common = fileHeaders(given.job, artifact, etag);
  if (range === "all") {
    // The length is said here too: for HEAD, which has no body that could.
    return new Response(method === "GET" ? file : null, {
      headers: { ...common, "Content-Length": String(bytes) },
    });
  }
  const { first, last } = range;
  return new Response(file.slice(first, last + 1), {
    status: 206,
    headers: {
      ...common,
      "Content-Length": String(last + 1 - first),
      "Content-Range": `bytes ${first}-${last}/${bytes}`,
    },
  });
}

function fileHeaders(job: ReadableExportJobRow, artifact: Artifact, etag: string): Record<string, string> {
  const { fileName, sha256 } = artifact;
  return {
    "Content-Type": "application/zip",
    "Content-Disposition": contentDisposition({ ascii: fileName, full: fileName }),
    "Cache-Control": "no-store",
    "X-Export-As-Of": job.asOf,
    "X-Export-Total-Rows": String(job.rowsWritten),
    "Accept-Ranges": "bytes",
    ETag: etag,
    "Repr-Digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
  };
}
