/** GET /export/projects/{project}/deleted: the rows that left a project's export between two cutoffs. */
import { Type } from "@sinclair/typebox";
import { EXPORT_DATASET_NAMES, toVisibility } from "../../shared/exports/datasets.ts";
import { mayExportDataset } from "../../shared/policy.ts";
import { Instant, oneOf, Uuid } from "../../shared/schemas.ts";
import { TEXT_EXPORT_FORMATS } from "../../shared/vocabulary.ts";
import { countDeletedRows, streamDeletedFile } from "../../sql/exports/deleted_rows.ts";
import type { Caller } from "../http/caller.ts";
import type { OperationDeps } from "../http/operation.ts";
import { once, parseQuery, readInstant } from "../http/query.ts";
import {
  COMMON_QUERY,
  FLAGS,
  type FormatEnding,
  formatParameter,
  listForms,
  PROJECT_FAILURES,
  queryWithEnding,
  SHARE_USED_UP,
} from "./export_request.ts";
import { sendExport } from "./send_export.ts";

const DeletedRow = Type.Object(
  {
    dataset: oneOf(EXPORT_DATASET_NAMES),
    id: Uuid(),
    at: Instant({ description: "When it was deleted or hidden" }),
  },
  { title: "DeletedRow" },
);

const DELETED_QUERY = {
  ...COMMON_QUERY,
  format: formatParameter(TEXT_EXPORT_FORMATS),
  since: {
    ...COMMON_QUERY.since,
    description: "X-Export-Next-Since of an earlier export. At most 90 days ago",
    required: true as const,
    example: "2026-11-19T10:00:00.000Z",
    read: once((text, addProblem): string => {
      if (text === null) addProblem("is required: X-Export-Next-Since of an earlier export");
      return readInstant(text, addProblem) ?? "";
    }),
  },
  ...FLAGS,
};

export const DELETED_FORMS = listForms({
  id: "exportDeleted",
  path: "/api/v1/export/projects/{project}/deleted",
  summary: "Export the ids of rows that left a project's export",
  description:
    "Rows that were deleted after `since`, or that the flags exclude since then. To keep a copy current, delete these rows, " +
    "then insert or replace the rows of each dataset with the same `since` and `as_of`. Pass the flags of the copy. Key rows " +
    "by project and id: a row that moved to another project is listed here and is in the rows of the other. " +
    "Ordered by dataset, time and id.",
  fails: [...PROJECT_FAILURES, "EXPORT_TOO_LARGE", "EXPORT_PREPARE_TIMEOUT", SHARE_USED_UP],
  query: DELETED_QUERY,
  rowSchema: DeletedRow,
  endings: ["csv"],
});

/** Sends the rows that left a project's export between two cutoffs. */
export function sendDeleted(
  deps: OperationDeps,
  input: { project: string; request: Request; caller: Caller; ending: FormatEnding | null },
) {
  const parse = () => {
    const query = queryWithEnding(input.request, input.ending);
    const { format, as_of: asOf, since, ...flags } = parseQuery(DELETED_QUERY, query);
    return { format, asOf, since, visibility: toVisibility(flags) };
  };
  const call = { ...input, policy: mayExportDataset, parse };
  return sendExport(deps, call, ({ snapshot, parameters: { format, since }, selection }) => {
    const increment = { ...selection, since };
    return {
      kind: "dataset",
      content: "deleted",
      count: (tx, limit) => countDeletedRows(tx, { increment, limit }),
      open: () => streamDeletedFile(snapshot, { increment, format }),
    };
  });
}
