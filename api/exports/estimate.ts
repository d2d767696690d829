/** GET /export/projects/{project}/estimate: estimates the size of a bundle. */
import { Type } from "@sinclair/typebox";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { mayExportBundle } from "../../shared/policy.ts";
import { each, Instant, Natural } from "../../shared/schemas.ts";
import { sampleLineBytes } from "../../sql/exports/dataset_file.ts";
import { countBundleRows, type RowCounts } from "../../sql/exports/select_rows.ts";
import { jsonText, operation, reply } from "../http/operation.ts";
import { queryOf } from "../http/query.ts";
import {
  BUNDLE_FAILURES,
  BUNDLE_QUERY,
  EXAMPLE_AS_OF,
  PROJECT_EXPORT,
  parseBundleParameters,
} from "./export_request.ts";
import { rowLimit } from "./row_limit.ts";
import { type OpenExport, withOpenExport } from "./send_export.ts";

/** The largest `integer` of PostgreSQL, because estimates count all rows. */
const NO_LIMIT = 2_147_483_647;

const Estimate = Type.Object(
  {
    asOf: Instant(),
    rowCounts: Type.Object(each(EXPORT_DATASET_NAMES, Natural)),
    totalRows: Natural,
    estimatedBytes: Natural,
    syncAllowed: Type.Boolean({ description: "Whether the bundle is within EXPORT_BUNDLE_MAX_ROWS" }),
  },
  {
    title: "Estimate",
    examples: [
      {
        asOf: EXAMPLE_AS_OF,
        rowCounts: Object.fromEntries(EXPORT_DATASET_NAMES.map((name) => [name, 120])),
        totalRows: 960,
        estimatedBytes: 912_000,
        syncAllowed: true,
      },
    ],
  },
);

export const estimateBundle = operation(
  {
    ...PROJECT_EXPORT,
    id: "estimateBundle",
    path: "/api/v1/export/projects/{project}/estimate",
    summary: "Estimate the size of a bundle",
    description:
      "Requires the same rights as the bundle. `syncAllowed` is true if the bundle is small enough to be downloaded. " +
      "An estimate uses no export slot; a user runs at most two at once.",
    uncheckedQuery: BUNDLE_QUERY,
    response: {
      200: Type.Object(
        { data: Estimate },
        { description: "Exact rows; bytes before compression, estimated from a sample" },
      ),
    },
    fails: BUNDLE_FAILURES,
  },
  async ({ params, request, caller }, deps) => {
    const parse = () => parseBundleParameters(queryOf(request));
    const exportRequest = { caller, request, project: params.project, policy: mayExportBundle, parse };
    const estimate = await withOpenExport(deps, { ...exportRequest, kind: "estimate" }, async (opened) => {
      const { asOf, selection, snapshot } = opened;
      const rowCounts = await snapshot.run((tx) => countBundleRows(tx, { selection, limit: NO_LIMIT }));
      const totalRows = Object.values(rowCounts).reduce((sum, rows) => sum + rows, 0);
      const estimatedBytes = await estimateBytes(opened, rowCounts);
      await opened.requireAccessStill();
      await opened.close();
      const syncAllowed = totalRows <= rowLimit(deps.config, "bundle");
      return { asOf, rowCounts, totalRows, estimatedBytes, syncAllowed };
    });
    // The client has disconnected.
    if (!estimate) return reply(200, jsonText(""));
    return reply(200, { data: estimate });
  },
);

/** Returns the estimated bytes before compression: the number of rows times the mean row length of a sample. */
async function estimateBytes(
  { snapshot, selection, parameters }: OpenExport,
  rowCounts: RowCounts,
): Promise<number> {
  const { format } = parameters;
  let bytes = 0;
  for (const name of EXPORT_DATASET_NAMES) {
    const rows = rowCounts[name];
    if (rows === 0) continue;
    const dataset = EXPORT_DATASETS[name];
    const lineBytes = await snapshot.run((tx) => sampleLineBytes(tx, dataset, { selection, format }));
    bytes += rows * lineBytes;
  }
  return Math.round(bytes);
}
