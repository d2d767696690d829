/** Names and payloads of background jobs, for the code that queues jobs and for `jobs/`. */

/** The trace context of the request that queued the job; unset if the request is not traced. */
interface Traced {
  traceparent?: string | undefined;
}

export interface JobPayloads {
  /** Builds the ZIP of an organization. The queue entry has the export job's id. */
  build_org_export: { exportJobId: string } & Traced;
  /** Deletes records that are past their retention. The schedule queues it, one run at a time. */
  delete_old_records: Record<string, never>;
  /** Deletes expired exports and the files of dead builds. The schedule queues it, one run at a time. */
  expire_org_exports: Record<string, never>;
  /** Sends a mail about an account or an organization. The queue entry has the id of the mail's row. */
  send_account_mail: { accountMailId: string } & Traced;
  /** Mails the requester of an export that the export is ready. The queue entry has the export job's id. */
  send_export_ready: { exportJobId: string } & Traced;
  /**
   * Mails the organization's owner that a webhook was disabled. `disabledAt` is the time, and `origin` is the origin of the
   * webhook's URL at that time. Earlier checkouts queued only `webhookId`.
   */
  send_webhook_disabled: { webhookId: string; disabledAt?: string; origin?: string } & Traced;
}

export type JobName = keyof JobPayloads;

export const JOB_NAMES: readonly JobName[] = [
  "build_org_export",
  "delete_old_records",
  "expire_org_exports",
  "send_account_mail",
  "send_export_ready",
  "send_webhook_disabled",
];

/** Names of the jobs without a payload, which the schedule queues. */
export type ScheduledJobName = "delete_old_records" | "expire_org_exports";
