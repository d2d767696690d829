/** GET /export/projects/{project}/deleted, also with .csv: which rows left the export of a project between two cutoffs. */
import { Elysia, t } from "elysia";
import { NO_FILTERS } from "../../shared/exports/selection.ts";
import { mayExportDataset } from "../../shared/policy.ts";
import { countDeletedRows, streamDeletedFile } from "../../sql/exports/deleted_rows.ts";
import type { OperationDeps } from "../deps.ts";
import { access } from "../http/access.ts";
import type { Caller } from "../http/caller.ts";
import { compress } from "../http/response/compress_stream.ts";
import { chooseEncoding } from "../http/response/content_encoding.ts";
import { CONTENT_TYPES } from "./dataset.ts";
import { parseDeletedParameters } from "./export_parameters.ts";
import { requireExportProject } from "./export_project.ts";
import { fileResponse } from "./file_response.ts";
import { type FormatEnding, queryWithEnding } from "./format_ending.ts";
import { noteExport } from "./note_export.ts";
import { fileKind, withOpenExport } from "./open_export.ts";
import { DELETED_CSV_DETAIL, DELETED_DETAIL } from "./openapi.ts";
import { tooLarge } from "./too_large.ts";

const Params = t.Object({ project: t.String() });

export function deletedRoutes(deps: OperationDeps) {
  const options = { access: "caller", params: Params } as const;
  return new Elysia()
    .use(access)
    .get(
      "/export/projects/:project/deleted",
      ({ params, request, caller }) => exportDeleted(deps, { ...params, request, caller, ending: null }),
      { ...options, detail: DELETED_DETAIL },
    )
    .get(
      "/export/projects/:project/deleted.csv",
      ({ params, request, caller }) => exportDeleted(deps, { ...params, request, caller, ending: "csv" }),
      { ...options, detail: DELETED_CSV_DETAIL },
    );
}

async function exportDeleted(
  deps: OperationDeps,
  given: { project: string; request: Request; caller: Caller; ending: FormatEnding | null },
): Promise<Response> {
  const { request, caller, ending } = given;
  const policy = mayExportDataset;
  const project = await requireExportProject(deps.sql, {
    caller,
    request,
    project: given.project,
    policy,
  });
  const { format, asOf, since, visibility } = parseDeletedParameters(queryWithEnding(request, ending));
  const opening = { request, caller, project, policy, asOf, since, kind: fileKind(request) };
  return withOpenExport(deps, opening, async (opened) => {
    const { trackerSchema } = deps.config;
    const increment = {
      trackerSchema,
      shards: opened.shards,
      projectId: project.id,
      asOf: opened.asOf,
      since,
      visibility,
      filters: NO_FILTERS,
    };
    const limit = deps.config.exportSyncMaxRows;
    const totalRows = await opened.snapshot.run((tx) =>
      countDeletedRows(tx, { increment, limit: limit + 1 }),
    );
    if (totalRows > limit) throw tooLarge(totalRows, limit);
    const details = { dataset: "deleted", format, asOf: opened.asOf, since, rows: totalRows };
    await noteExport(deps.sql, { caller, request, action: "export.dataset", project, details });
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    return fileResponse(request, {
      opened,
      metrics: deps.exports.metrics,
      file: {
        kind: "dataset",
        format,
        contentType: CONTENT_TYPES[format],
        projectName: project.name,
        content: "deleted",
        extension: format,
        totalRows,
        headers: { Vary: "Accept-Encoding", ...(encoding ? { "Content-Encoding": encoding } : {}) },
        open: () => {
          const lines = streamDeletedFile(opened.snapshot, { increment, format });
          return encoding ? compress(lines, encoding) : lines;
        },
      },
    });
  });
}
