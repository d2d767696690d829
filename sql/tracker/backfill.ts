/** Lets a transaction write tracker rows of any time, to import old ones (docs/watermark.md). */
import type { Sql } from "../connection/pool.ts";

/** Call inside a transaction. On a Citus cluster, the nodes have to know it too. */
export async function allowBackfill(tx: Sql): Promise<void> {
  await tx`set local citus.propagate_set_commands = 'local'`;
  await tx`set local ulr.backfill = 'on'`;
}
