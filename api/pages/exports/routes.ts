/** The exports pages of the dashboard. */
import type { PageRoute } from "../page.ts";
import { showExports, submitStart } from "./exports_page.ts";
import { cancelJob, showCanceled, showJobs } from "./job_list.ts";
import { downloadFiltered, showProject } from "./project_page.ts";

export const EXPORT_PAGES: readonly PageRoute[] = [
  ["FORM", "/dashboard/exports", "signedIn", [showExports, submitStart]],
  ["GET", "/dashboard/exports/jobs", "signedIn", showJobs],
  ["FORM", "/dashboard/exports/jobs/:job/cancel", "signedIn", [showCanceled, cancelJob]],
  ["GET", "/dashboard/exports/projects/:project", "signedIn", showProject],
  ["GET", "/dashboard/exports/projects/:project/file", "signedIn", downloadFiltered],
];
