/** The names under which the service's own processes connect; pg_stat_activity shows them. */

export const API_APPLICATION = "ulr-api";
/**
 * The API's requests through a connection pooler. It is not in the list below: a client that sends no name, as many drivers
 * do, inherits the name that the pooler's session had before.
 */
export const POOLED_API_APPLICATION = "ulr-api-pooled";
export const EXPORT_APPLICATION = "ulr-export";
export const JOBS_APPLICATION = "ulr-jobs";
export const CATALOG_APPLICATION = "ulr-catalog-sync";
/** Writes tracker rows (`import`, `demo seed`), so its transactions hold the watermark back like a tracker's. */
export const ADMIN_APPLICATION = "ulr-admin";

/**
 * Applications that never write a tracker row, so their transactions cannot add to an export (docs/watermark.md). Only
 * connections that reach PostgreSQL itself may use these names.
 */
export const OWN_APPLICATION_NAMES = [
  API_APPLICATION,
  EXPORT_APPLICATION,
  JOBS_APPLICATION,
  CATALOG_APPLICATION,
];
