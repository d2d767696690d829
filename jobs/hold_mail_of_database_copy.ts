/** Prevents a restored copy of the database from sending mail about events in the original database. */
import type { Sql } from "../sql/connection/pool.ts";
import { isDatabaseCopy } from "../sql/database_copy.ts";

/** Throws if the database is a copy that has not replaced its original. The mail then stays in the queue for most of a day. */
export async function holdMailOfDatabaseCopy(sql: Sql): Promise<void> {
  if (!(await isDatabaseCopy(sql))) return;
  throw new Error(
    "Cannot send this mail from a copy of the database; run `bun run admin artifacts adopt` if it replaces the original",
  );
}
