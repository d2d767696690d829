/** Every job that the runner works off: the visible list. */

import type { JobPayloads } from "../shared/jobs.ts";
import { type BuildDeps, buildOrgExport } from "./build_org_export.ts";

/** Builds that one process runs at a time, each on a snapshot of its own. */
export const CONCURRENT_BUILDS = 2;
/** How soon a new job is seen. */
const POLL_SECONDS = 1;

export interface RunningJobs {
  /** Takes no more jobs, and settles when those that run have ended, well or not. */
  finish(): Promise<void>;
}

/** Begins to work off the queues. */
export async function startJobs(deps: BuildDeps): Promise<RunningJobs> {
  const { boss, log } = deps;
  const running = new Set<Promise<void>>();
  await boss.work<JobPayloads["build_org_export"], void>(
    "build_org_export",
    { batchSize: 1, localConcurrency: CONCURRENT_BUILDS, pollingIntervalSeconds: POLL_SECONDS },
    async ([job]) => {
      if (!job) return;
      const build = buildOrgExport(deps, job.data, job.signal);
      running.add(build);
      try {
        await build;
      } finally {
        running.delete(build);
      }
    },
  );
  log.info({ concurrentBuilds: CONCURRENT_BUILDS }, "working");
  return {
    async finish() {
      await boss.offWork("build_org_export", { wait: false });
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
