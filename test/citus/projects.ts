/** Projects on the nodes of a cluster. */

import { findTrackerPlace } from "../../sql/tracker/tracker_shards.ts";
import { type ExportProject, makeExportProject } from "../helpers/exports/export_project.ts";
import type { TestApp } from "../helpers/http/app.ts";

/** URLs of the coordinator, then of the workers. */
interface Cluster {
  urls: readonly string[];
}

/** The worker that holds a project: its number in `cluster.workers`. */
export async function workerOf(cluster: Cluster, app: TestApp, projectId: string): Promise<number> {
  const place = await findTrackerPlace(app.db.sql, projectId);
  const worker = cluster.urls
    .slice(1)
    .findIndex((url) => new URL(url).host === `${place?.node.host}:${place?.node.port}`);
  if (worker < 0) throw new Error(`Cannot find the project ${projectId} on a worker`);
  return worker;
}

/** Makes a project with rows on each of the workers, in their order. */
export async function makeProjectOnEach(cluster: Cluster, app: TestApp): Promise<ExportProject[]> {
  const projects: ExportProject[] = [];
  while (cluster.urls.slice(1).some((_, worker) => projects[worker] === undefined)) {
    const made = await makeExportProject(app);
    projects[await workerOf(cluster, app, made.project.id)] ??= made;
  }
  return projects;
}
