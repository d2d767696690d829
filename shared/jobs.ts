/** Names and payloads of background jobs: the contract between whoever queues one and `jobs/`. */

export interface JobPayloads {
  /** Builds the ZIP of an organization. The entry in the queue has the export job's id. */
  build_org_export: { exportJobId: string };
}

export type JobName = keyof JobPayloads;
