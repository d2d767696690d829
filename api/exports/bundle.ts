/** GET /export/projects/{project}/bundle: the eight datasets of a project and their manifest, streamed as one ZIP. */
import { bundleManifest, type ProjectContents } from "../../shared/exports/manifest.ts";
import { projectReadme, schemaFile } from "../../shared/exports/readme.ts";
import { streamZip, textEntry, type ZipEntry } from "../../shared/exports/zip_stream.ts";
import { mayExportBundle } from "../../shared/policy.ts";
import { limitStatements } from "../../sql/connection/snapshot.ts";
import { projectEntries } from "../../sql/exports/project_entries.ts";
import { countBundleRows } from "../../sql/exports/select_rows.ts";
import { operation } from "../http/operation.ts";
import { queryOf } from "../http/query.ts";
import {
  BUNDLE_FAILURES,
  BUNDLE_QUERY,
  FILE_HEADERS,
  PROJECT_EXPORT,
  parseBundleParameters,
} from "./export_request.ts";
import { BUNDLE_ARCHIVE } from "./manifest_schema.ts";
import { type OpenExport, sendExport } from "./send_export.ts";

export const exportBundle = operation(
  {
    ...PROJECT_EXPORT,
    id: "exportBundle",
    path: "/api/v1/export/projects/{project}/bundle",
    summary: "Export all datasets of a project as a ZIP",
    description:
      "One file per dataset, all from one database snapshot with one cutoff, and README.md, schema.json and " +
      "manifest.json, which has rows, bytes and SHA-256 of each file. A truncated download is not a valid ZIP.",
    uncheckedQuery: BUNDLE_QUERY,
    response: { 200: { description: "The archive", files: BUNDLE_ARCHIVE } },
    responseHeaders: FILE_HEADERS,
    download: true,
    fails: [...BUNDLE_FAILURES, "EXPORT_TOO_LARGE"],
  },
  async ({ params, request, caller }, deps) => {
    const parse = () => parseBundleParameters(queryOf(request));
    const exportRequest = { caller, request, project: params.project, policy: mayExportBundle, parse };
    return sendExport(deps, exportRequest, (opened) => ({
      kind: "bundle",
      content: "bundle",
      async count(tx, limit) {
        await limitStatements(tx, deps.config.exportPrepareTimeoutMs);
        const rows = await countBundleRows(tx, { selection: opened.selection, limit });
        return Object.values(rows).reduce((sum, count) => sum + count, 0);
      },
      open: () => streamZip(bundleEntries(opened), { modifiedAt: opened.asOf }),
    }));
  },
);

/** Yields the datasets, README, schema and manifest. The manifest is last, because it contains the datasets' checksums. */
async function* bundleEntries(opened: OpenExport): AsyncGenerator<ZipEntry, void, void> {
  const { project, selection, parameters } = opened;
  const { format } = parameters;
  const written: ProjectContents = { files: {}, deleted: null };
  yield* projectEntries(opened.snapshot, written, { selection, format, meter: { rows: 0 } });
  const contents = {
    asOf: opened.asOf,
    since: selection.since ?? null,
    format,
    project: { id: project.id, name: project.name },
    organization: { id: project.orgId, slug: project.orgSlug, name: project.orgName },
    visibility: selection.visibility,
    ...written,
  };
  yield textEntry("README.md", projectReadme(contents));
  yield textEntry("schema.json", schemaFile());
  yield textEntry("manifest.json", bundleManifest(contents));
}
