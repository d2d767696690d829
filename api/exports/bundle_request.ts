/** What bundle and estimate share: access check, parameters, and count. */
import { type ExportSelection, NO_FILTERS } from "../../shared/exports/selection.ts";
import { mayExportBundle } from "../../shared/policy.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import type { ReadableProjectRow } from "../../sql/accounts/projects.ts";
import { countBundleRows, limitStatements, type RowCounts } from "../../sql/exports/rows.ts";
import type { OperationDeps } from "../deps.ts";
import type { Caller } from "../http/caller.ts";
import { queryOf } from "../http/query.ts";
import { parseBundleParameters } from "./export_parameters.ts";
import { requireExportProject } from "./export_project.ts";
import { type ExportRequest, type OpenExport, withOpenExport } from "./open_export.ts";

export interface BundleRequest {
  project: ReadableProjectRow;
  format: ExportFormat;
  opened: OpenExport;
  selection: ExportSelection;
  rowCounts: RowCounts;
  totalRows: number;
}

/**
 * Checks access, opens the export and counts, then calls `serve`, whose response takes over the open export. Counts
 * stop at `limit` per dataset. Throws EXPORT_PREPARE_TIMEOUT if counting takes too long.
 */
export async function withBundleRequest<Answer>(
  deps: OperationDeps,
  given: { caller: Caller; request: Request; project: string; limit: number; kind: ExportRequest["kind"] },
  serve: (bundle: BundleRequest) => Promise<Answer>,
): Promise<Answer | Response> {
  const { caller, request, kind } = given;
  const project = await requireExportProject(deps.sql, {
    caller,
    request,
    project: given.project,
    policy: mayExportBundle,
  });
  const { format, visibility, asOf, since } = parseBundleParameters(queryOf(request));
  const opening = { request, caller, project, policy: mayExportBundle, asOf, since, kind };
  return withOpenExport(deps, opening, async (opened) => {
    const { trackerSchema } = deps.config;
    const selection = {
      trackerSchema,
      shards: opened.shards,
      projectId: project.id,
      asOf: opened.asOf,
      since,
      visibility,
      filters: NO_FILTERS,
    };
    const { limit } = given;
    await opened.snapshot.run((tx) => limitStatements(tx, deps.config.exportPrepareTimeoutMs));
    const rowCounts = await opened.snapshot.run((tx) => countBundleRows(tx, { selection, limit }));
    const totalRows = Object.values(rowCounts).reduce((sum, rows) => sum + rows, 0);
    return serve({ project, format, opened, selection, rowCounts, totalRows });
  });
}
