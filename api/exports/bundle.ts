/** GET /export/projects/{project}/bundle: the eight datasets of a project and their manifest, streamed as one ZIP. */
import { Elysia, t } from "elysia";
import { bundleManifest } from "../../shared/exports/manifest.ts";
import { projectReadme, schemaFile } from "../../shared/exports/readme.ts";
import { streamZip, textEntry, type ZipEntry } from "../../shared/exports/zip_stream.ts";
import { type ProjectContents, projectEntries } from "../../sql/exports/project_entries.ts";
import type { OperationDeps } from "../deps.ts";
import { access } from "../http/access.ts";
import { type BundleRequest, withBundleRequest } from "./bundle_request.ts";
import { fileResponse } from "./file_response.ts";
import { noteExport } from "./note_export.ts";
import { fileKind } from "./open_export.ts";
import { BUNDLE_DETAIL } from "./openapi.ts";
import { tooLarge } from "./too_large.ts";

const Params = t.Object({ project: t.String() });

export function bundleRoutes(deps: OperationDeps) {
  return new Elysia().use(access).get(
    "/export/projects/:project/bundle",
    async ({ params, request, caller }) => {
      const cap = deps.config.exportBundleMaxRows;
      return withBundleRequest(
        deps,
        {
          caller,
          request,
          project: params.project,
          limit: cap + 1,
          kind: fileKind(request),
        },
        async (bundle) => {
          if (bundle.totalRows > cap) throw tooLarge(bundle.totalRows, cap);
          const { opened, project, format, selection, totalRows } = bundle;
          await noteExport(deps.sql, {
            caller,
            request,
            action: "export.bundle",
            project,
            details: {
              format,
              asOf: opened.asOf,
              ...(selection.since ? { since: selection.since } : {}),
              rows: totalRows,
            },
          });
          return fileResponse(request, {
            opened,
            metrics: deps.exports.metrics,
            file: {
              kind: "bundle",
              format,
              contentType: "application/zip",
              projectName: project.name,
              content: "bundle",
              extension: "zip",
              totalRows,
              open: () => streamZip(bundleEntries(bundle), { modifiedAt: opened.asOf }),
            },
          });
        },
      );
    },
    { access: "caller", params: Params, detail: BUNDLE_DETAIL },
  );
}

/** Yields the datasets, readme and manifest. The manifest is last, because it has the checksums of the datasets. */
async function* bundleEntries(bundle: BundleRequest): AsyncGenerator<ZipEntry, void, void> {
  const { project, format, selection, opened } = bundle;
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
