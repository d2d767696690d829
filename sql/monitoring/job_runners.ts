/** Table `job_runners`: one row per job runner that has not shut down. */
import { onlyValue, type Sql } from "../connection/pool.ts";

/** A runner that was last seen longer ago has crashed or cannot reach the database. */
const ALIVE_SECONDS = 30;

/** Records that the runner is alive, and deletes the rows of runners that were last seen more than a day ago. */
export async function upsertJobRunner(sql: Sql, id: string): Promise<void> {
  await sql`
    with dead as (
      delete from job_runners where seen_at < now() - interval '1 day' and id <> ${id}
    )
    insert into job_runners (id) values (${id})
    on conflict (id) do update set seen_at = excluded.seen_at`;
}

/** Deletes the row of a runner that shuts down. */
export async function deleteJobRunner(sql: Sql, id: string): Promise<void> {
  await sql`delete from job_runners where id = ${id}`;
}

/** Counts the runners that were seen in the last 30 s. */
export async function countJobRunners(sql: Sql): Promise<number> {
  return onlyValue(sql<[{ runners: number }]>`
    select count(*) as runners
    from job_runners
    where seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})`);
}
