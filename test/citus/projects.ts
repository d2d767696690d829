/** Creates projects on the nodes of a cluster, and finds a project's node. */

import { findTrackerPlace } from "../../sql/tracker/tracker_shards.ts";
import { type ExportProject, makeExportProject } from "../helpers/exports/export_project.ts";
import type { TestApp } from "../helpers/http/app.ts";

/** A cluster's URLs: the coordinator's, then the workers'. */
interface Cluster {
  urls: readonly string[];
}

/** Returns the worker that stores a project, as an index of `cluster.workers`. */
export async function workerOf(cluster: Cluster, app: TestApp, projectId: string): Promise<number> {
  const place = await findTrackerPlace(app.db.sql, projectId);
  const worker = cluster.urls
    .slice(1)
    .findIndex((url) => new URL(url).host === `${place?.node.host}:${place?.node.port}`);
  if (worker < 0) throw new Error(`Cannot find the project ${projectId} on a worker`);
  return worker;
}

/** Creates one project with rows on each worker, in the order of the workers. */
export async function makeProjectOnEach(cluster: Cluster, app: TestApp): Promise<ExportProject[]> {
  const projects: ExportProject[] = [];
  while (cluster.urls.slice(1).some((_, worker) => projects[worker] === undefined)) {
    const made = await makeExportProject(app);
    projects[await workerOf(cluster, app, made.project.id)] ??= made;
  }
  return projects;
}
