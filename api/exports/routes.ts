/** The routes of exports. */
import { Elysia } from "elysia";
import type { OperationDeps } from "../deps.ts";
import { bundleRoutes } from "./bundle.ts";
import { datasetRoutes } from "./dataset.ts";
import { datasetListRoutes } from "./dataset_list.ts";
import { deletedRoutes } from "./deleted.ts";
import { estimateRoutes } from "./estimate.ts";
import { jobDownloadRoutes } from "./job_download.ts";

export function exportRoutes(deps: OperationDeps) {
  return new Elysia()
    .use(datasetListRoutes())
    .use(bundleRoutes(deps))
    .use(estimateRoutes(deps))
    .use(deletedRoutes(deps))
    .use(datasetRoutes(deps))
    .use(jobDownloadRoutes(deps));
}
