/** OpenAPI description of the download of an export job. */
import { ID, TEXT } from "../../shared/json_schema.ts";
import { headerParameter, pathParameter } from "../openapi/responses.ts";
import { describe, failsWith } from "../openapi/types.ts";
import { ORGANIZATION_ARCHIVE } from "./manifest_schema.ts";
import { FILE_HEADERS, SHARE_USED_UP, STREAM_RULES } from "./openapi.ts";

const TAG = "Export";

const JOB_ID = pathParameter("job_id", "The job's id", "4b6a3f4e-2c71-4d0a-8f5e-1d2c3b4a5f60", ID);

const DOWNLOAD_HEADERS = {
  ...FILE_HEADERS,
  ETag: { description: "SHA-256 of the file", schema: TEXT },
  "Repr-Digest": { description: "SHA-256 of the file, as in RFC 9530", schema: TEXT },
};

export const DOWNLOAD_DETAIL = describe({
  tags: [TAG],
  operationId: "downloadExportJob",
  summary: "Download an organization export",
  description: `Supports one \`Range\` with \`If-Range\`, so that a broken download can be resumed. ${STREAM_RULES}`,
  parameters: [
    JOB_ID,
    headerParameter("Range", "A range of bytes, such as `bytes=1048576-`"),
    headerParameter("If-Range", "ETag of the file that was partly downloaded"),
  ],
  responses: {
    200: { description: "The archive", headers: DOWNLOAD_HEADERS, content: ORGANIZATION_ARCHIVE },
    206: {
      description: "The requested range",
      headers: DOWNLOAD_HEADERS,
      content: ORGANIZATION_ARCHIVE,
    },
  },
  ...failsWith(
    "EXPORT_JOB_NOT_FOUND",
    "KEY_KIND_FORBIDDEN",
    SHARE_USED_UP,
    "EXPORT_NOT_READY",
    "EXPORT_JOB_FAILED",
    "EXPORT_EXPIRED",
    "RANGE_NOT_SATISFIABLE",
  ),
});
