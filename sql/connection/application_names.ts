/** Application names of the service's own connections, as shown in pg_stat_activity. */

export const API_APPLICATION = "ulr-api";
/**
 * The name of the API's connections through a connection pooler. OWN_APPLICATION_NAMES must not contain this name: a client that
 * sends no name, as many drivers do, inherits the last name of the pooler's session.
 */
export const POOLED_API_APPLICATION = "ulr-api-pooled";
export const EXPORT_APPLICATION = "ulr-export";
export const JOBS_APPLICATION = "ulr-jobs";
export const CATALOG_APPLICATION = "ulr-catalog-sync";
/**
 * The name of the admin command line. Commands such as `import` and `demo seed` write tracker rows, so their transactions hold back
 * the watermark like a tracker's.
 */
export const ADMIN_APPLICATION = "ulr-admin";

/**
 * Applications that never write tracker rows, so their transactions cannot add rows to an export (docs/watermark.md). Only direct
 * connections to PostgreSQL may use these names.
 */
export const OWN_APPLICATION_NAMES = [
  API_APPLICATION,
  EXPORT_APPLICATION,
  JOBS_APPLICATION,
  CATALOG_APPLICATION,
];
