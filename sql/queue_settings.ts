/** Retries, heartbeats and retention of each background job in the queue. */
import type { Queue } from "pg-boss";
import type { JobName } from "../shared/background_jobs.ts";
import { HEARTBEAT_SECONDS } from "./exports/take_over_build.ts";

const DAY_SECONDS = 24 * 3600;
const YEAR_SECONDS = 365 * DAY_SECONDS;

/**
 * At most one entry, waiting or active. The retry is for a sweep whose runner died: until its entry ends, no other
 * sweep can be queued.
 */
const SWEEP = {
  policy: "exclusive",
  retryLimit: 1,
  retryDelay: 1,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: 15 * 60,
  deleteAfterSeconds: DAY_SECONDS,
} as const;

/** Retries after 1, 2, 4 … 60 minutes, each randomly shortened by up to half: for 17 to 34 hours. */
const MAIL = {
  retryLimit: 40,
  retryDelay: 60,
  retryBackoff: true,
  retryDelayMax: 3600,
  heartbeatSeconds: HEARTBEAT_SECONDS,
} as const;

/** Settings of pg-boss per queue. */
export const QUEUE_SETTINGS: Readonly<Record<JobName, Omit<Queue, "name">>> = {
  // Attempts are counted in the row of the export job. pg-boss must never give up on an entry or delete it, because the
  // row would then wait forever.
  build_org_export: {
    retryLimit: 1000,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 30,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: 10 * YEAR_SECONDS,
  },
  delete_old_records: SWEEP,
  expire_org_exports: SWEEP,
  // A person is waiting for the mail.
  send_account_mail: { ...MAIL, retryDelay: 5 },
  send_export_ready: MAIL,
  send_webhook_disabled: MAIL,
};
