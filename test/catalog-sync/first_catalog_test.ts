import { expect, test } from "bun:test";
import { fillIfEmpty } from "../../catalog-sync/first_catalog.ts";
import { bundledSource } from "../../catalog-sync/source.ts";
import { storeDocument } from "../../catalog-sync/store_document.ts";
import { createLog } from "../../shared/process/log.ts";
import { makeDocument } from "../helpers/models/catalog.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("the bundled copy does not replace a catalog that another process stores at the same time", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const log = createLog({ level: "silent", process: "test", destination: { write: () => {} } });
  const deps = { sql, log, shutdownSignal: new AbortController().signal };
  let filling: ReturnType<typeof fillIfEmpty> | undefined;
  await db.owner.begin(async (tx) => {
    // Blocks the process after it has checked for models and before it checks for syncs.
    await tx`lock table catalog_syncs in access exclusive mode`;
    filling = fillIfEmpty(deps, bundledSource());
    await waitFor(async () => {
      const [blocked] =
        await db.admin`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return blocked !== undefined;
    });
    const loaded = { isUnchanged: false, value: makeDocument({ acme: { fresh: {} } }), etag: null } as const;
    const run = { label: "test", startedMs: performance.now(), last: null, force: false };
    await storeDocument(tx, { ...run, loaded });
  });
  expect((await filling)?.bundled).toEqual({ outcome: "busy" });
  expect([...(await sql`select model_id from models where removed_at is null`)]).toEqual([
    { modelId: "fresh" },
  ]);
});
