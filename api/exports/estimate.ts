/** GET /export/projects/{project}/estimate: how much a bundle would contain. */
import { Elysia, t } from "elysia";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { sampleLineBytes } from "../../sql/exports/rows.ts";
import type { OperationDeps } from "../deps.ts";
import { access } from "../http/access.ts";
import { type BundleRequest, withBundleRequest } from "./bundle_request.ts";

import { ESTIMATE_DETAIL } from "./openapi.ts";

/** PostgreSQL's largest integer: estimates count all rows. */
const NO_LIMIT = 2_147_483_647;

const Params = t.Object({ project: t.String() });

export function estimateRoutes(deps: OperationDeps) {
  return new Elysia().use(access).get(
    "/export/projects/:project/estimate",
    async ({ params, request, caller }) =>
      withBundleRequest(
        deps,
        { caller, request, project: params.project, limit: NO_LIMIT, kind: "estimate" },
        async (bundle) => {
          const estimatedBytes = await estimateBytes(bundle);
          await bundle.opened.close();
          return {
            data: {
              asOf: bundle.opened.asOf,
              rowCounts: bundle.rowCounts,
              totalRows: bundle.totalRows,
              estimatedBytes,
              syncAllowed: bundle.totalRows <= deps.config.exportBundleMaxRows,
            },
          };
        },
      ),
    { access: "caller", params: Params, detail: ESTIMATE_DETAIL },
  );
}

/** Returns the bytes of the files before compression: rows times the mean length of a sample. */
async function estimateBytes(bundle: BundleRequest): Promise<number> {
  let bytes = 0;
  for (const name of EXPORT_DATASET_NAMES) {
    const rows = bundle.rowCounts[name];
    if (rows === 0) continue;
    const { selection, format } = bundle;
    const lineBytes = await bundle.opened.snapshot.run((tx) =>
      sampleLineBytes(tx, EXPORT_DATASETS[name], { selection, format }),
    );
    bytes += rows * lineBytes;
  }
  return Math.round(bytes);
}
