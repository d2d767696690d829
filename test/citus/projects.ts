/** Projects on the nodes of a cluster. */

import { findTrackerPlace } from "../../sql/tracker/tracker_shards.ts";
import { type ExportProject, makeExportProject } from "../helpers/exports/export_project.ts";
import type { TestApp } from "../helpers/http/app.ts";
import type { CitusCluster } from "../helpers/postgres/citus_cluster.ts";

/** The worker that holds a project: its number in `cluster.workers`. */
export async function workerOf(cluster: CitusCluster, app: TestApp, projectId: string): Promise<number> {
  const place = await findTrackerPlace(app.db.sql, projectId);
  const worker = cluster.urls.slice(1).findIndex((url) => Number(new URL(url).port) === place?.node.port);
  if (worker < 0) throw new Error(`Cannot find the project ${projectId} on a worker`);
  return worker;
}

/** Makes a project with rows on each of the workers, in their order. */
export async function makeProjectOnEach(cluster: CitusCluster, app: TestApp): Promise<ExportProject[]> {
  const projects: ExportProject[] = [];
  while (cluster.workers.some((_, worker) => projects[worker] === undefined)) {
    const made = await makeExportProject(app);
    projects[await workerOf(cluster, app, made.project.id)] ??= made;
  }
  return projects;
}
