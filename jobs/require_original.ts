/** Keeps a copy of the database from telling people what has happened in the original only. */
import type { Sql } from "../sql/connection/pool.ts";
import { isCopy } from "../sql/installation.ts";

/** Throws if the database is a copy that has not replaced its original. The mail then stays in the queue for most of a day. */
export async function requireOriginal(sql: Sql): Promise<void> {
  if (!(await isCopy(sql))) return;
  throw new Error(
    "Cannot send this mail from a copy of the database; run `bun run admin artifacts adopt` if it replaces the original",
  );
}
