/** The operations of exports. */
import type { AnyOperation } from "../http/operation.ts";
import { exportBundle } from "./bundle.ts";
import { exportDataset } from "./dataset.ts";
import { listExportDatasets } from "./dataset_list.ts";
import { exportDeleted, exportDeletedCsv } from "./deleted.ts";
import { downloadExportJob } from "./download.ts";
import { estimateBundle } from "./estimate.ts";
import { cancelExportJob, getExportJob, listExportJobs } from "./jobs.ts";
import { queueExportJob } from "./queue_job.ts";

export const EXPORT_OPERATIONS: readonly AnyOperation[] = [
  listExportDatasets,
  exportBundle,
  estimateBundle,
  exportDeleted,
  exportDeletedCsv,
  exportDataset,
  queueExportJob,
  listExportJobs,
  getExportJob,
  cancelExportJob,
  downloadExportJob,
];
