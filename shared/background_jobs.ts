/** Names and payloads of background jobs, for the code that queues them and for `jobs/`. */

/** Continues the trace of the request that queued the job; unset if it is not traced. */
interface Traced {
  traceparent?: string | undefined;
}

export interface JobPayloads {
  /** Builds the ZIP of an organization. The entry in the queue has the export job's id. */
  build_org_export: { exportJobId: string } & Traced;
  /** Deletes records that are past their retention. Queued by the schedule, one at a time. */
  delete_old_records: Record<string, never>;
  /** Deletes what has expired and what dead builds left. Queued by the schedule, one at a time. */
  expire_org_exports: Record<string, never>;
  /** Sends a mail about an account or an organization. The entry in the queue has the id of its row. */
  send_account_mail: { accountMailId: string } & Traced;
  /** Mails the requester of an export that it is ready. The entry in the queue has the export job's id. */
  send_export_ready: { exportJobId: string } & Traced;
  /**
   * Mails the organization's owner that a webhook was disabled: when, and the origin of its URL then. Earlier checkouts queued
   * the id alone.
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

/** Jobs without a payload, which the clock queues. */
export type ScheduledJobName = "delete_old_records" | "expire_org_exports";
