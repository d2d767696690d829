/** Deletes the oldest rows of a table, a batch at a time. */
import type { Fragment, Sql } from "./connection/pool.ts";

export interface OldRows {
  table: string;
  /** The columns of the primary key as SQL; `id` if omitted. */
  key?: string;
  /** The time of a row as SQL: an indexed column or expression. */
  time: string;
  /** Rows are old when this interval has passed since their time. */
  age: string;
  /** A further condition. */
  and?: Fragment;
  limit: number;
}

/** Deletes up to `limit` old rows, the oldest first, and returns their number. Skips rows that other transactions lock. */
export async function deleteOldRows(sql: Sql, rows: OldRows): Promise<number> {
  const { table, age, and = sql`true`, limit } = rows;
  const [key, time] = [sql.unsafe(rows.key ?? "id"), sql.unsafe(rows.time)];
  const { count } = await sql`
    delete from ${sql(table)}
    where (${key}) in (
      select ${key}
      from ${sql(table)}
      where ${time} <= now() - ${age}::text::interval and ${and}
      order by ${time}
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
