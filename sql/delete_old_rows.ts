/** Lists the tables whose old rows are deleted, with their retention, and deletes the rows in batches. */
import type { Config } from "../shared/process/config.ts";
import { FORGOTTEN_ACCOUNT } from "./accounts/login_delays.ts";
import type { Sql } from "./connection/pool.ts";

interface OldRows {
  table: string;
  /** The columns of the primary key as SQL; `id` if omitted. */
  key?: string;
  /** The time of a row as SQL. It must be an indexed column or expression. */
  time: string;
  /** The interval after which a row counts as old. */
  age: string;
  /** A further condition as SQL. */
  and?: string;
}

/** Tables with a fixed retention. The keys are the names in the log. */
export const OLD_ROWS = {
  /** Mails whose links have expired and that no longer count toward a limit. */
  accountMails: { table: "account_mails", time: "expires_at", age: "1 hour" },
  /** Attempts that no longer count toward a limit. */
  loginAttempts: { table: "login_attempts", key: "subject_hash", time: "last_attempt_at", age: "1 minute" },
  loginAccounts: {
    table: "login_account_attempts",
    key: "account_hash",
    time: "last_attempt_at",
    age: "0",
    and: FORGOTTEN_ACCOUNT,
  },
  loginWaits: { table: "login_waits", key: "subject_hash", time: "waiting_since", age: "1 hour" },
  factorChallenges: { table: "factor_challenges", time: "expires_at", age: "0" },
  signInNetworks: {
    table: "sign_in_networks",
    key: "user_id, network",
    time: "last_signed_in_at",
    age: "30 days",
  },
  idempotencyKeys: { table: "idempotency_keys", key: "caller, key", time: "created_at", age: "24 hours" },
  invitations: { table: "organization_invitations", time: "created_at", age: "30 days" },
  /**
   * Keeps the last sync, the last successful sync and the syncs that price changes refer to. Also keeps an operator's decisions
   * about a document that its source may still serve.
   */
  catalogSyncs: {
    table: "catalog_syncs",
    time: "finished_at",
    age: "400 days",
    and: `not exists (select from model_price_changes where sync_id = catalog_syncs.id)
      and id <> (select max(id) from catalog_syncs)
      and id <> coalesce((select max(id) from catalog_syncs where outcome in ('changed', 'unchanged')), 0)
      and (
        decision is null
        or id < (select max(id) from catalog_syncs where outcome in ('changed', 'unchanged'))
      )`,
  },
  webhookSecrets: { table: "webhook_retired_secrets", time: "expires_at", age: "0" },
} as const satisfies Readonly<Record<string, OldRows>>;

/** Returns the tables with a configurable retention in days. The keys are the names in the log. */
export function listKeptRows(
  config: Pick<Config, "sessionRetentionDays" | "exportJobRetentionDays" | "executionRetentionDays">,
) {
  return {
    /** The execution counters of definition lines still include deleted executions. */
    executions: {
      table: "definition_executions",
      time: "recorded_at",
      age: `${config.executionRetentionDays} days`,
    },
    sessions: {
      table: "sessions",
      time: "least(expires_at, revoked_at)",
      age: `${config.sessionRetentionDays} days`,
    },
    /** Jobs without a file. The latest job of an organization is kept, because the next job's number follows from it. */
    exportJobs: {
      table: "export_jobs",
      time: "finished_at",
      age: `${config.exportJobRetentionDays} days`,
      and: `status in ('expired', 'failed')
        and exists (
          select from export_jobs as later where later.org_id = export_jobs.org_id and later.number > export_jobs.number
        )`,
    },
  } satisfies Readonly<Record<string, OldRows>>;
}

/**
 * Deletes up to `limit` old rows, oldest first, and returns the number of deleted rows. Skips rows that other transactions have
 * locked.
 */
export async function deleteOldRows(sql: Sql, rows: OldRows & { limit: number }): Promise<number> {
  const { table, age, limit } = rows;
  const [key, time] = [sql.unsafe(rows.key ?? "id"), sql.unsafe(rows.time)];
  const { count } = await sql`
    delete from ${sql(table)}
    where (${key}) in (
      select ${key}
      from ${sql(table)}
      where ${time} <= now() - ${age}::text::interval and ${sql.unsafe(rows.and ?? "true")}
      order by ${time}
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
