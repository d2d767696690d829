/** Recomputes the hashes of definitions that an older release wrote. */
import { setTimeout as delay } from "node:timers/promises";
import { hashStoredYaml } from "../../shared/definitions/hash_definition.ts";
import { onlyValue, type Sql } from "../connection/pool.ts";
import { existsRelation } from "../schema_state.ts";

/** Number of documents per batch, which is held in memory: at most 15 MB of text. */
const BATCH = 100;
/** Maximum number of passes. With the pauses between passes, locked versions are retried for about ten seconds. */
const PASSES = 20;
const PAUSE_MS = 500;
const REPORT_MS = 1000;
const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

export interface RehashOptions {
  /** Called at most once a second, and at the end if any hash was outdated. */
  onProgress: (done: number, total: number) => void;
}

interface OldRow {
  id: string;
  yaml: string;
  /** The `xmin` of the row, which changes with every update. */
  revision: string;
}

/**
 * Recomputes the hashes that are in an outdated format. Returns the number of versions that the last pass skipped because other
 * sessions had locked or changed them. Never waits for a row lock, and never overwrites a concurrent change. Each batch is
 * committed, so a rerun resumes where a killed run stopped. Concurrent calls are safe.
 */
export async function rehashDefinitions(sql: Sql, { onProgress }: RehashOptions): Promise<number> {
  // The index does not exist until its migration has been applied.
  let left = (await existsRelation(sql, "definitions_json_hash_idx")) ? await countOld(sql) : 0;
  const total = left;
  let reportedAt = performance.now();
  let done = 0;
  for (let pass = 1; left > 0 && pass <= PASSES; pass += 1) {
    if (pass > 1) await delay(PAUSE_MS);
    left = 0;
    for await (const { rows, written } of rehashAll(sql)) {
      done += written;
      left += rows - written;
      if (performance.now() - reportedAt < REPORT_MS) continue;
      reportedAt = performance.now();
      onProgress(done, Math.max(total, done + left));
    }
  }
  if (total > 0) onProgress(done, done + left);
  return left;
}

async function countOld(sql: Sql): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count from definitions where json_hash is distinct from hash`);
}

/** Updates outdated hashes in one pass over all versions, and yields the counts of each batch. */
async function* rehashAll(sql: Sql): AsyncGenerator<{ rows: number; written: number }> {
  for (let after = BEFORE_ALL_IDS; ; ) {
    const rows = await sql<OldRow[]>`
      select id, yaml, xmin::text as revision
      from definitions
      where json_hash is distinct from hash and id > ${after}
      order by id
      limit ${BATCH}`;
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    yield { rows: rows.length, written: await updateHashes(sql, rows) };
  }
}

/**
 * Updates hashes and returns the number of updated versions. Skips versions that have changed since they were read or that another
 * session has locked.
 */
async function updateHashes(sql: Sql, rows: readonly OldRow[]): Promise<number> {
  const hashed = rows.map(({ id, yaml, revision }) => ({ id, revision, hash: hashStoredYaml(yaml) }));
  const { count } = await sql`
    with free as (
      select d.id, n.hash
      from jsonb_to_recordset(${sql.json(hashed)}) as n (id uuid, revision text, hash text)
      join definitions as d on d.id = n.id and d.xmin::text = n.revision
      for no key update of d skip locked
    )
    update definitions as d
    set hash = free.hash, json_hash = free.hash
    from free
    where d.id = free.id`;
  return count;
}
