/** The operations of exports. */
import type { AnyOperation } from "../http/operation.ts";
import { cancelExportJob, getExportJob, listExportJobs } from "./jobs.ts";
import { queueExportJob } from "./queue_job.ts";

export const EXPORT_OPERATIONS: readonly AnyOperation[] = [
  queueExportJob,
  listExportJobs,
  getExportJob,
  cancelExportJob,
];
